/** Random values in device memory, laid out there from short patterns. */

import { type Stream, Tensor } from '@altstream/cuda-runtime';
import {
  hashOf,
  makePattern,
  mixed,
  type PatternDType,
  patternAlignment,
} from './dummy-pattern.js';

/** Fills tensors; keeps one pattern for each type and width on the device. */
export class RandomFill {
  readonly patternBytes: number;
  readonly #seed: number;
  readonly #patterns = new Map<string, Tensor>();

  /** @param patternBytes of each pattern, about */
  constructor(seed: number, patternBytes: number) {
    this.#seed = mixed(seed >>> 0, Math.floor(seed / 2 ** 32) >>> 0);
    this.patternBytes = Math.ceil(patternBytes / patternAlignment) * patternAlignment;
  }

  /** Patterns made so far. */
  get patterns(): number {
    return this.#patterns.size;
  }

  /**
   * Enqueues copies of the pattern of the tensor's type from places that only `name` and the seed
   * decide; waits where the stream is full.
   *
   * @param width of the interval of the values, as in `makePattern`
   */
  async fill(name: string, width: number, into: Tensor, stream: Stream): Promise<void> {
    const pattern = this.#pattern(into.dtype as PatternDType, width, stream).borrow();
    const start = hashOf(name);
    // Pieces are many and forgotten: they must not keep what the caller and `dispose` end.
    const flat = Tensor.of(into.borrow(), [into.bytes], 'u8');
    const places = pattern.bytes / patternAlignment;
    for (let done = 0, tile = 0; done < into.bytes; tile++) {
      await stream.ready();
      const from = (mixed(start, this.#seed + tile) % places) * patternAlignment;
      const bytes = Math.min(into.bytes - done, pattern.bytes - from);
      stream.copy(flat.slice(0, done, done + bytes), pattern.slice(0, from, from + bytes));
      done += bytes;
    }
  }

  /** Frees the patterns; what was filled stays. */
  dispose(): void {
    for (const pattern of this.#patterns.values()) pattern.dispose();
    this.#patterns.clear();
  }

  #pattern(dtype: PatternDType, width: number, stream: Stream): Tensor {
    // Elements of MXFP8 are the same for every width; their scales are not.
    const key = dtype === 'e4m3' ? dtype : `${dtype} ${width}`;
    const known = this.#patterns.get(key);
    if (known) return known;
    const bytes = this.patternBytes;
    const label = `dummy pattern ${key}`;
    const pattern = Tensor.allocate(stream.device, [bytes], 'u8', { stream, label });
    this.#patterns.set(key, pattern);
    stream.write(pattern, makePattern(dtype, width, bytes, mixed(hashOf(key), this.#seed)));
    return pattern;
  }
}
