import type { Sequence } from '../sequence.js';

/**
 * Sequences that decode, each in a row of the static inputs. A row stays with its sequence; when one
 * ends, the last takes its place, so rows are always 0 … count − 1 and only moved rows change.
 */
export class DecodeSet {
  readonly #rows: Sequence[] = [];

  get rows(): readonly Sequence[] {
    return this.#rows;
  }

  add(sequence: Sequence): void {
    sequence.state = 'decoding';
    this.#rows.push(sequence);
  }

  /** Takes out the sequences for which the test holds. */
  remove(test: (sequence: Sequence) => boolean): Sequence[] {
    const removed: Sequence[] = [];
    for (let row = this.#rows.length - 1; row >= 0; row -= 1) {
      const sequence = this.#rows[row];
      if (!sequence || !test(sequence)) continue;
      const last = this.#rows.pop();
      if (last && last !== sequence) this.#rows[row] = last;
      removed.push(sequence);
    }
    return removed;
  }
}
