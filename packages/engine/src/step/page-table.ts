import { type Device, type Stream, Tensor } from '@altstream/cuda-runtime';
import type { Sequence } from '../sequence.js';

/**
 * Pages of the sequences of a step, a row each, on the device; only rows that changed are written.
 */
export class PageTable {
  readonly #owned: Tensor;
  // Rows of it are made at each step and forgotten, so they are borrowed.
  readonly #tensor: Tensor;
  readonly #rows: Int32Array;
  readonly #maxPages: number;
  /**
   * What the device holds: of each row the sequence (0 = nothing that is known), its version and
   * its pages.
   */
  readonly #held: {
    readonly ids: Float64Array;
    readonly versions: Float64Array;
    readonly pages: Int32Array;
  };

  constructor(device: Device, shape: { sequences: number; maxPages: number }, label: string) {
    this.#owned = Tensor.allocate(device, [shape.sequences, shape.maxPages], 'i32', {
      label: `${label}.pageTable`,
    });
    this.#tensor = this.#owned.borrow();
    this.#maxPages = shape.maxPages;
    this.#rows = new Int32Array(shape.sequences * shape.maxPages);
    this.#held = {
      ids: new Float64Array(shape.sequences),
      versions: new Float64Array(shape.sequences),
      pages: new Int32Array(shape.sequences),
    };
  }

  /** i32 [sequences, maxPages], its first rows. */
  rows(sequences: number): Tensor {
    return this.#tensor.slice(0, 0, sequences);
  }

  /** Enqueues the rows of sequences that moved or grew; those that lie together go together. */
  upload(stream: Stream, sequences: readonly Sequence[]): void {
    const width = this.#maxPages;
    let first = 0;
    for (let row = 0; row <= sequences.length; row += 1) {
      const sequence = sequences[row];
      if (sequence && this.#note(row, sequence)) {
        for (let at = 0; at < width; at += 1) {
          this.#rows[row * width + at] = sequence.pages[at] ?? -1;
        }
        continue;
      }
      this.#send(stream, first, row);
      first = row + 1;
    }
  }

  /** Makes the next upload write every row anew. */
  forget(): void {
    this.#held.ids.fill(0);
  }

  dispose(): void {
    this.#owned.dispose();
  }

  #send(stream: Stream, first: number, end: number): void {
    if (end <= first) return;
    const width = this.#maxPages;
    const rows = this.#rows.subarray(first * width, end * width);
    stream.write(this.#tensor.slice(0, first, end), rows);
  }

  /** @returns whether the device holds something else in the row */
  #note(row: number, { id, tableVersion, pages: { length } }: Sequence): boolean {
    const { ids, versions, pages } = this.#held;
    const isHeld = ids[row] === id && versions[row] === tableVersion && pages[row] === length;
    ids[row] = id;
    versions[row] = tableVersion;
    pages[row] = length;
    return !isHeld;
  }
}
