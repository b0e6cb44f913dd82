import { type Device, type Stream, Tensor } from '@altstream/cuda-runtime';
import type { Sequence } from '../sequence.js';

/** Pages of the sequences of a step, a row each, on the device; only rows that changed are written. */
export class PageTable {
  readonly #owned: Tensor;
  // Rows of it are made at each step and forgotten, so they are borrowed.
  readonly #tensor: Tensor;
  readonly #rows: Int32Array;
  readonly #maxPages: number;
  /** What the device holds for each row: `sequence:version:pages`. */
  readonly #keys: string[] = [];

  constructor(device: Device, shape: { sequences: number; maxPages: number }, label: string) {
    this.#owned = Tensor.allocate(device, [shape.sequences, shape.maxPages], 'i32', {
      label: `${label}.pageTable`,
    });
    this.#tensor = this.#owned.borrow();
    this.#maxPages = shape.maxPages;
    this.#rows = new Int32Array(shape.sequences * shape.maxPages);
  }

  /** i32 [sequences, maxPages], its first rows. */
  rows(sequences: number): Tensor {
    return this.#tensor.slice(0, 0, sequences);
  }

  /** Enqueues the rows of sequences that moved or grew; those that lie together go together. */
  upload(stream: Stream, sequences: readonly Sequence[]): void {
    const width = this.#maxPages;
    let first = 0;
    const send = (end: number): void => {
      if (end > first) {
        stream.write(
          this.#tensor.slice(0, first, end),
          this.#rows.subarray(first * width, end * width),
        );
      }
      first = end + 1;
    };
    sequences.forEach((sequence, row) => {
      const key = `${sequence.id}:${sequence.tableVersion}:${sequence.pages.length}`;
      if (this.#keys[row] === key) {
        send(row);
        return;
      }
      this.#keys[row] = key;
      const pages = this.#rows.subarray(row * width, (row + 1) * width).fill(-1);
      pages.set(sequence.pages.slice(0, width));
    });
    send(sequences.length);
  }

  /** Makes the next upload write every row anew. */
  forget(): void {
    this.#keys.length = 0;
  }

  dispose(): void {
    this.#owned.dispose();
  }
}
