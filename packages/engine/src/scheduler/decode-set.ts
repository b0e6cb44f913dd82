import type { Sequence } from '../sequence.js';

/**
 * Sequences that decode, each in a row of the static inputs. A row stays with its sequence; when
 * one leaves, the last takes its place, so rows are always 0 … count − 1, only moved rows change,
 * and none moves to a higher place: what the device alone knows of a row is copied in order.
 */
export class DecodeSet {
  readonly #rows: Sequence[] = [];
  #held: Sequence[] = [];

  /** Those that can be part of the next step. */
  get rows(): readonly Sequence[] {
    return this.#rows;
  }

  /** Those that wait for their matchers; they have no row. */
  get held(): readonly Sequence[] {
    return this.#held;
  }

  add(sequence: Sequence): void {
    sequence.state = 'decoding';
    this.#rows.push(sequence);
  }

  /** Who is held now gives its row up, and who is not any more gets the last one. */
  settle(): void {
    const back = this.#held.filter(({ isHeld }) => !isHeld);
    const gone = this.#removeRows(({ isHeld }) => isHeld);
    this.#held = [...this.#held.filter(({ isHeld }) => isHeld), ...gone];
    this.#rows.push(...back);
  }

  /** Takes out the sequences for which the test holds. */
  remove(test: (sequence: Sequence) => boolean): Sequence[] {
    const removed = this.#removeRows(test);
    const held = this.#held.filter(test);
    if (held.length > 0) this.#held = this.#held.filter((one) => !held.includes(one));
    return [...removed, ...held];
  }

  #removeRows(test: (sequence: Sequence) => boolean): Sequence[] {
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
