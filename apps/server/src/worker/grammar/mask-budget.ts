/** A grammar that takes too long to follow; the message is for its author. */
export class CostlyGrammarError extends Error {
  readonly code = costlyCode;
}

/** Tells it across threads, and from other faults of matchers. */
export const costlyCode = 'GRAMMAR_TOO_COSTLY';

/** Milliseconds of its thread that one mask may take, before the worker is ended. */
export const mostMaskMs = 300;
/**
 * What a matcher may take beyond its share. Masks of honest grammars take a tenth of a millisecond.
 */
const creditMs = 500;
/** A token's share. */
export const perTokenMs = 10;

/** What the masks of one matcher may cost: each token adds a share, and none is kept for long. */
export class MaskBudget {
  #leftMs = creditMs;

  /** @throws CostlyGrammarError when nothing is left */
  spend(ms: number): void {
    this.#leftMs = Math.min(creditMs, this.#leftMs + perTokenMs - ms);
    if (this.#leftMs <= 0) throw new CostlyGrammarError(costlyReason);
  }
}

/** In words for the author of a grammar. */
export const costlyReason =
  'what may come next takes too long to find out; nest fewer repetitions and alternatives';
