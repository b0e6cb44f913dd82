import { type Device, type Stream, Tensor } from '@altstream/cuda-runtime';
import type { Sequence } from '../sequence.js';

/** Pages of the sequences of a step, a row each, on the device; only rows that changed are written. */
export class PageTable {
  readonly #owned: Tensor;
  // Rows of it are made at each step and forgotten, so they are borrowed.
  readonly #tensor: Tensor;
  readonly #row: Int32Array;
  /** What the device holds for each row: `sequence:version:pages`. */
  readonly #keys: string[] = [];

  constructor(device: Device, shape: { sequences: number; maxPages: number }, label: string) {
    this.#owned = Tensor.allocate(device, [shape.sequences, shape.maxPages], 'i32', {
      label: `${label}.pageTable`,
    });
    this.#tensor = this.#owned.borrow();
    this.#row = new Int32Array(shape.maxPages);
  }

  /** i32 [sequences, maxPages], its first rows. */
  rows(sequences: number): Tensor {
    return this.#tensor.slice(0, 0, sequences);
  }

  /** Enqueues the rows of sequences that moved or grew. */
  upload(stream: Stream, sequences: readonly Sequence[]): void {
    sequences.forEach((sequence, row) => {
      const key = `${sequence.id}:${sequence.tableVersion}:${sequence.pages.length}`;
      if (this.#keys[row] === key) return;
      this.#keys[row] = key;
      this.#row.fill(-1);
      this.#row.set(sequence.pages.slice(0, this.#row.length));
      stream.write(this.#tensor.slice(0, row, row + 1), this.#row);
    });
  }

  /** Makes the next upload write every row anew. */
  forget(): void {
    this.#keys.length = 0;
  }

  dispose(): void {
    this.#owned.dispose();
  }
}
