import { type MaskBudget, mostMaskMs, perTokenMs } from './mask-budget.js';
import type { MatcherState } from './matcher-state.js';

/**
 * Milliseconds that the first masks of a worker may take beyond the usual, all of them together.
 * The library's code is slow until it was run a few times, and a worker begins whenever the one
 * before was lost: no output may be refused for being the first one behind that.
 */
const warmUpMs = 1000;
/** Masks that are the first ones. */
const warmUpMasks = 16;

/** Says what a mask may take, and measures what it took. One for all matchers of a worker. */
export class MaskMeter {
  readonly #state: MatcherState;
  readonly #now: () => number;
  #warmUp = { ms: warmUpMs, masks: warmUpMasks };

  /** @param now milliseconds that this thread has computed */
  constructor(state: MatcherState, now: () => number) {
    this.#state = state;
    this.#now = now;
  }

  /**
   * Tells who watches this worker what the next mask may take at most.
   *
   * @param tokens that are accepted anew before it, a millisecond each
   */
  begin(matcher: number, tokens = 0): void {
    this.#state.begin(matcher, mostMaskMs + tokens + this.#warmUp.ms);
  }

  /**
   * Makes a mask at the cost of its matcher's budget, or of the warm-up's while that lasts.
   *
   * @throws CostlyGrammarError when the budget is spent
   */
  async measure(
    budget: MaskBudget,
    make: () => Promise<Int32Array | undefined>,
  ): Promise<Int32Array | undefined> {
    const start = this.#now();
    const mask = await make();
    const ms = this.#now() - start;
    // Where everything is allowed the library was not asked, so that it is as cold as before.
    budget.spend(mask ? ms - this.#takeFromWarmUp(ms) : ms);
    return mask;
  }

  #takeFromWarmUp(ms: number): number {
    const { ms: left, masks } = this.#warmUp;
    const taken = Math.min(left, Math.max(0, ms - perTokenMs));
    this.#warmUp = masks > 1 ? { ms: left - taken, masks: masks - 1 } : { ms: 0, masks: 0 };
    return taken;
  }
}
