import type { Sequence } from '../sequence.js';
import type { PrefillPiece } from './batch.js';
import { matching } from './seldom-lists.js';

/** How much of which prompts a step may compute. */
export interface PieceLimits {
  readonly budgetTokens: number;
  readonly mostSequences: number;
  /** Most tokens of one prompt; 0 = no limit of its own. */
  readonly longTokens: number;
}

/** Sequences whose prompts are not computed yet, first come, first served. */
export class PrefillQueue {
  readonly #sequences: Sequence[] = [];

  /** In order of arrival. */
  get sequences(): readonly Sequence[] {
    return this.#sequences;
  }

  add(sequence: Sequence): void {
    sequence.state = 'prefilling';
    this.#sequences.push(sequence);
  }

  /**
   * Splits the front of the queue into pieces that fit a step's token budget. The first prompt gets
   * at least its equal share, so it always moves on; of the rest the shortest prompts are served
   * first, so that none of them waits until a very long one is done.
   *
   * @param passed sequences that get no piece in this step
   */
  pieces(
    { budgetTokens, mostSequences, longTokens }: PieceLimits,
    passed: ReadonlySet<Sequence>,
  ): PrefillPiece[] {
    const able = this.#sequences.filter((sequence) => !passed.has(sequence));
    const front = able.slice(0, mostSequences);
    const shares = new Map<Sequence, number>();
    let budget = budgetTokens;
    const give = (sequence: Sequence, most: number): void => {
      const share = shares.get(sequence) ?? 0;
      const limit = longTokens > 0 ? Math.min(sequence.remainingPrefill, longTokens) : undefined;
      const more = Math.min((limit ?? sequence.remainingPrefill) - share, most, budget);
      shares.set(sequence, share + more);
      budget -= more;
    };
    const [first] = front;
    if (first) give(first, Math.ceil(budgetTokens / front.length));
    const shortestFirst = [...front].sort((a, b) => a.remainingPrefill - b.remainingPrefill);
    for (const sequence of shortestFirst) give(sequence, budget);
    return front.flatMap((sequence) => {
      const tokens = shares.get(sequence) ?? 0;
      return tokens > 0 ? [{ sequence, start: sequence.computedTokens, tokens }] : [];
    });
  }

  /** Takes out the sequences for which the test holds, in order. */
  remove(test: (sequence: Sequence) => boolean): readonly Sequence[] {
    const removed = matching(this.#sequences, test);
    if (removed.length > 0) {
      const kept = this.#sequences.filter((sequence) => !removed.includes(sequence));
      this.#sequences.splice(0, this.#sequences.length, ...kept);
    }
    return removed;
  }
}
