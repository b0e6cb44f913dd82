import type { Stream, Tensor } from '@altstream/cuda-runtime';
import type { DrawnToken } from './device-draws.js';

/**
 * Copies tokens to places in ascending order; those that lie together on both sides go together.
 */
export class CopyRuns {
  readonly #stream: Stream;
  readonly #places: (first: number, length: number) => Tensor;
  #run: { readonly place: number; readonly token: DrawnToken; length: number } | undefined;

  /**
   * @param places i32, the destination of so many tokens from a place on, in other memory than
   * theirs
   */
  constructor(stream: Stream, places: (first: number, length: number) => Tensor) {
    this.#stream = stream;
    this.#places = places;
  }

  add(place: number, token: DrawnToken): void {
    const run = this.#run;
    const isNext =
      run !== undefined &&
      place === run.place + run.length &&
      token.ids === run.token.ids &&
      token.row === run.token.row + run.length;
    if (isNext) {
      run.length += 1;
      return;
    }
    this.end();
    this.#run = { place, token, length: 1 };
  }

  /** Enqueues what is left. */
  end(): void {
    if (!this.#run) return;
    const { place, token, length } = this.#run;
    const { ids, row } = token;
    this.#stream.copy(this.#places(place, length), ids.slice(0, row, row + length));
    this.#run = undefined;
  }
}
