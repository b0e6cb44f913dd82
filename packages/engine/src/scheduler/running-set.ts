import type { Sequence } from '../sequence.js';
import { DecodeSet } from './decode-set.js';
import { PrefillQueue } from './prefill-queue.js';
import { joined, matching, nobody } from './seldom-lists.js';

/** Sequences that were admitted: prompts, rows, and those whose last step is not over. */
export class RunningSet {
  readonly prefills = new PrefillQueue();
  readonly decodes = new DecodeSet();
  #ending: readonly Sequence[] = nobody;

  /** Those that take part in the steps to come. */
  get placed(): readonly Sequence[] {
    return [...this.prefills.sequences, ...this.decodes.rows, ...this.decodes.held];
  }

  /** How many those are. */
  get places(): number {
    const { rows, held } = this.decodes;
    return this.prefills.sequences.length + rows.length + held.length;
  }

  /** All that hold pages. */
  get live(): readonly Sequence[] {
    return [...this.placed, ...this.#ending];
  }

  /** Whether the test holds for one of those; makes no list of them. */
  some(test: (sequence: Sequence) => boolean): boolean {
    const { rows, held } = this.decodes;
    return (
      this.prefills.sequences.some(test) ||
      rows.some(test) ||
      held.some(test) ||
      this.#ending.some(test)
    );
  }

  /** How many those are. */
  get count(): number {
    return this.places + this.#ending.length;
  }

  /**
   * Nothing more is decided for the sequences for which the test holds; their last step runs on.
   */
  end(test: (sequence: Sequence) => boolean): void {
    this.#ending = joined(this.#ending, this.#removePlaced(test));
  }

  /** Takes out the sequences for which the test holds. */
  remove(test: (sequence: Sequence) => boolean): readonly Sequence[] {
    const removed = this.#removePlaced(test);
    const ended = matching(this.#ending, test);
    if (ended.length > 0) this.#ending = this.#ending.filter((one) => !ended.includes(one));
    return joined(removed, ended);
  }

  #removePlaced(test: (sequence: Sequence) => boolean): readonly Sequence[] {
    return joined(this.prefills.remove(test), this.decodes.remove(test));
  }
}
