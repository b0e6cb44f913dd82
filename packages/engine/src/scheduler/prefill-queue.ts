import type { Sequence } from '../sequence.js';
import type { PrefillPiece } from './batch.js';

/** Sequences whose prompts are not computed yet, first come, first served. */
export class PrefillQueue {
  readonly #sequences: Sequence[] = [];

  get length(): number {
    return this.#sequences.length;
  }

  add(sequence: Sequence): void {
    sequence.state = 'prefilling';
    this.#sequences.push(sequence);
  }

  /** Splits the front of the queue into pieces that fit a step's token budget. */
  pieces(budgetTokens: number, mostSequences: number): PrefillPiece[] {
    const pieces: PrefillPiece[] = [];
    let budget = budgetTokens;
    for (const sequence of this.#sequences.slice(0, mostSequences)) {
      if (budget === 0) break;
      const tokens = Math.min(sequence.remainingPrompt, budget);
      pieces.push({ sequence, start: sequence.computedTokens, tokens });
      budget -= tokens;
    }
    return pieces;
  }

  /** Takes out the sequences for which the test holds, in order. */
  remove(test: (sequence: Sequence) => boolean): Sequence[] {
    const removed = this.#sequences.filter(test);
    if (removed.length > 0) {
      const kept = this.#sequences.filter((sequence) => !removed.includes(sequence));
      this.#sequences.splice(0, this.#sequences.length, ...kept);
    }
    return removed;
  }
}
