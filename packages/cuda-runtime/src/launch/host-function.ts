import { notTheObject } from '../errors/not-the-object.js';
import type { Handle } from '../native/binding.js';
import { collectorTerms, NativeRecord } from '../native/record.js';
import { notCloneable } from '../threads/not-cloneable.js';
import type { NativeCallback } from './native-callback.js';

/** The one implementation of `NativeCallback`. */
export class HostFunction implements NativeCallback {
  /** @internal Refuses structured clone. */
  readonly cloning = notCloneable;
  readonly name: string;
  readonly #record: NativeRecord;

  constructor(name: string, handle: Handle) {
    this.name = name;
    this.#record = new NativeRecord(this, handle, `host function ${name}`, collectorTerms);
  }

  use(api: string): Handle {
    if (!(#record in this)) throw notTheObject(api, 'host function');
    return this.#record.use(api);
  }
}
