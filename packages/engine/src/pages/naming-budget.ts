import type { PageKeys } from './page-keys.js';

/** A name takes some microseconds, and a prompt of a million tokens has thousands. */
const namesOfDecision = 512;

/**
 * Bounds the names of pages that are computed to look for them in one decision, so that a long
 * prompt does not hold up a step; the next decision goes on.
 */
export class NamingBudget {
  #left = namesOfDecision;
  #isSpent = false;

  /** Whether the last decision could not look as far as it wanted. */
  get isSpent(): boolean {
    return this.#isSpent;
  }

  /** A decision begins. */
  renew(): void {
    this.#left = namesOfDecision;
    this.#isSpent = false;
  }

  /** Whether a page may be named now: its name is known, or there is time for it. */
  allows(keys: PageKeys, index: number): boolean {
    const wanted = index + 1 - keys.known;
    if (wanted <= 0) return true;
    if (wanted > this.#left) {
      this.#isSpent = true;
      return false;
    }
    this.#left -= wanted;
    return true;
  }
}
