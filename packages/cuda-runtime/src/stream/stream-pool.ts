import { checkText, wrongKind } from '../arguments/faults.js';
import { checkOptions, type OptionNames } from '../arguments/options.js';
import type { Device, Stream } from '../contract.js';
import { NativeDevice } from '../device.js';
import { DisposedError } from '../errors/disposed-error.js';
import { notTheObject } from '../errors/not-the-object.js';
import { notCloneable } from '../threads/not-cloneable.js';
import type { NativeStream } from './stream.js';

/** Options of a pool of streams. */
export interface StreamPoolOptions {
  /** Of every stream; lower is more urgent. Default 0. */
  readonly priority?: number;
  /** Streams are named `name 0`, `name 1`, …; default `pool`. */
  readonly name?: string;
}

const names: OptionNames<StreamPoolOptions> = { priority: true, name: true };

/**
 * A few streams that are handed out in turn, for whoever has more branches than streams. Nobody
 * else shares streams: `device.createStream` makes a new one each time.
 */
export class StreamPool implements Disposable {
  /** All of them, in the order in which `next` gives them out; the pool's to dispose. */
  readonly streams: readonly Stream[];
  /** @internal Refuses structured clone. */
  readonly cloning = notCloneable;
  readonly #owned: readonly NativeStream[];
  #next = 0;
  #isDisposed = false;

  /**
   * @param size how many streams, at least 1
   * @throws ArgumentError
   */
  constructor(device: Device, size: number, options: StreamPoolOptions = {}) {
    const api = 'new StreamPool';
    if (!(device instanceof NativeDevice)) throw wrongKind(api, 'device', device, 'a device');
    if (!Number.isInteger(size) || size < 1) {
      throw wrongKind(api, 'size', size, 'a positive integer');
    }
    checkOptions(api, 'options', options, names);
    const { priority = 0, name = 'pool' } = options;
    checkText(api, 'name', name);
    const owned: NativeStream[] = [];
    try {
      for (let index = 0; index < size; index += 1) {
        owned.push(device.makeStream({ priority, name: `${name} ${index}` }, 'pool'));
      }
    } catch (error) {
      for (const stream of owned) stream.release();
      throw error;
    }
    this.#owned = owned;
    this.streams = owned;
  }

  get isDisposed(): boolean {
    if (!(#isDisposed in this)) throw notTheObject('streamPool.isDisposed', 'pool of streams');
    return this.#isDisposed;
  }

  /** The next stream in turn; after the last one the first again. @throws DisposedError */
  next(): Stream {
    const api = 'streamPool.next';
    if (!(#next in this)) throw notTheObject(api, 'pool of streams');
    const stream = this.#owned[this.#next];
    if (this.#isDisposed || stream === undefined) {
      throw new DisposedError({ api, detail: 'the pool of streams is disposed' });
    }
    this.#next = (this.#next + 1) % this.#owned.length;
    return stream;
  }

  /** Ends all its streams; work that was submitted goes on. */
  dispose(): void {
    if (!(#isDisposed in this)) throw notTheObject('streamPool.dispose', 'pool of streams');
    this.#isDisposed = true;
    for (const stream of this.#owned) stream.release();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}
