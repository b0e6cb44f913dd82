import type { Sequence } from '../sequence.js';

const most = 0.7;
const least = 0.1;
const decaySteps = 600;
/** Longer answers are rare, so no more than this is held back for one. */
const mostTokens = 4096;

/**
 * Pages held back at admission for what running sequences may still generate: a share ρ of it,
 * since most end early. ρ falls from 0.7 to 0.1 over 600 steps without a preemption, and one sets
 * it back.
 */
export class Headroom {
  #share = most;

  /** ρ */
  get share(): number {
    return this.#share;
  }

  /** A step goes by. */
  decay(): void {
    this.#share = Math.max(least, this.#share - (most - least) / decaySteps);
  }

  /** A sequence was preempted: too little was held back. */
  raise(): void {
    this.#share = most;
  }

  /** Pages to hold back for sequences that run. */
  pages(running: readonly Sequence[], pageTokens: number): number {
    const tokens = running.reduce(
      (sum, { maxTokens, generated }) => sum + Math.min(mostTokens, maxTokens - generated.length),
      0,
    );
    return Math.ceil((this.#share * tokens) / pageTokens);
  }
}
