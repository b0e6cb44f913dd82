import type { Sequence } from '../sequence.js';
import { joined, matching, nobody } from './seldom-lists.js';

/**
 * Sequences that decode, each in a row of the static inputs. A row stays with its sequence; when
 * one leaves, the last takes its place, so rows are always 0 … count − 1, only moved rows change,
 * and none moves to a higher place: what the device alone knows of a row is copied in order.
 */
export class DecodeSet {
  #rows: readonly Sequence[] = nobody;
  #held: readonly Sequence[] = nobody;

  /**
   * Those that can be part of the next step. A list is never changed, another takes its place: a
   * step under way keeps the one that it was made of, and the next ones share it.
   */
  get rows(): readonly Sequence[] {
    return this.#rows;
  }

  /** Those that wait for their matchers; they have no row. */
  get held(): readonly Sequence[] {
    return this.#held;
  }

  add(sequence: Sequence): void {
    sequence.state = 'decoding';
    this.#rows = [...this.#rows, sequence];
  }

  /** Who is held now gives its row up, and who is not any more gets the last one. */
  settle(): void {
    const back = matching(this.#held, isFree);
    const gone = this.#removeRows(isHeld);
    this.#held = joined(back.length > 0 ? this.#held.filter(isHeld) : this.#held, gone);
    this.#rows = joined(this.#rows, back);
  }

  /** Takes out the sequences for which the test holds. */
  remove(test: (sequence: Sequence) => boolean): readonly Sequence[] {
    const removed = this.#removeRows(test);
    const held = matching(this.#held, test);
    if (held.length > 0) this.#held = this.#held.filter((one) => !held.includes(one));
    return joined(removed, held);
  }

  #removeRows(test: (sequence: Sequence) => boolean): readonly Sequence[] {
    const before = this.#rows;
    let left: { readonly rows: Sequence[]; readonly removed: Sequence[] } | undefined;
    for (let row = before.length - 1; row >= 0; row -= 1) {
      const sequence = before[row];
      if (!sequence || !test(sequence)) continue;
      left ??= { rows: before.slice(), removed: [] };
      const last = left.rows.pop();
      if (last && last !== sequence) left.rows[row] = last;
      left.removed.push(sequence);
    }
    if (!left) return nobody;
    this.#rows = left.rows;
    return left.removed;
  }
}

function isHeld(sequence: Sequence): boolean {
  return sequence.isHeld;
}

function isFree(sequence: Sequence): boolean {
  return !sequence.isHeld;
}
