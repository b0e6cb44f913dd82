import { notTheObject } from '../errors/not-the-object.js';
import type { Handle } from '../native/binding.js';
import { collectorTerms, NativeRecord } from '../native/record.js';
import { notCloneable } from '../threads/not-cloneable.js';

/**
 * A value of a graph that kernels set and one conditional node reads. Give it to a `uint64_t` field
 * of a kernel; on CUDA the kernel calls `cudaGraphSetConditional`, on the CPU
 * `context->set_conditional`.
 */
export class Condition {
  /** @internal Refuses structured clone. */
  readonly cloning = notCloneable;
  /** What every launch starts with. */
  readonly initial: number;
  readonly #record: NativeRecord;

  /** @internal Made by `graph.createCondition`. */
  constructor(handle: Handle, initial: number) {
    this.initial = initial;
    this.#record = new NativeRecord(this, handle, 'condition', collectorTerms);
  }

  /** @internal The native handle. */
  use(api: string): Handle {
    if (!(#record in this)) throw notTheObject(api, 'condition');
    return this.#record.use(api);
  }
}
