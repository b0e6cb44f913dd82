import type { Sequence } from '../sequence.js';
import { type Holding, newHolding } from './holding.js';
import { NamingBudget } from './naming-budget.js';
import type { PageKeys } from './page-keys.js';
import type { PagePool } from './page-pool.js';

/** What a prefix cache is made of. */
export interface PrefixCacheOptions {
  readonly pool: PagePool;
  readonly pageTokens: number;
  /** False: pages are handed out and taken back, and nothing is shared. */
  readonly isEnabled: boolean;
}

/**
 * Looks for pages of prompts in the index, so far in each decision that a long prompt holds up no
 * step.
 */
export class PrefixSearch {
  readonly #options: PrefixCacheOptions;
  readonly #holdings = new WeakMap<Sequence, Holding>();
  readonly #naming = new NamingBudget();

  constructor(options: PrefixCacheOptions) {
    this.#options = options;
  }

  /** Whether a page may be named in this decision. */
  allows(keys: PageKeys, index: number): boolean {
    return this.#naming.allows(keys, index);
  }

  /**
   * Whether the decision that began last was cut short: the next one goes on with what it looked
   * for.
   */
  get isCut(): boolean {
    return this.#naming.isSpent;
  }

  /** A decision begins; in each so many pages are named that a step does not wait long. */
  begin(): void {
    this.#naming.renew();
  }

  /** Tokens of the sequence's prompt that are there already, as far as was looked. */
  foundTokens(sequence: Sequence): number {
    return this.#findMore(sequence) * this.#options.pageTokens;
  }

  /**
   * Pages of the sequence's prompt that are there already, without taking them; undefined = it was
   * not looked far enough yet.
   */
  lookup(sequence: Sequence): number[] | undefined {
    const { index } = this.#options.pool;
    const found = this.#findMore(sequence);
    const { keys } = this.holding(sequence);
    if (found < this.#mostFound(sequence) && keys.known <= found) return undefined;
    const pages: number[] = [];
    while (pages.length < found) {
      const page = index.find(keys.at(pages.length));
      if (page === undefined) break;
      pages.push(page);
    }
    return pages;
  }

  /** Looks where it stopped: chains lose their tails first. @returns pages */
  #findMore(sequence: Sequence): number {
    const { index } = this.#options.pool;
    const most = this.#mostFound(sequence);
    if (most === 0) return 0;
    const holding = this.holding(sequence);
    const { keys } = holding;
    const isThere = (page: number): boolean => index.find(keys.at(page)) !== undefined;
    let { found } = holding;
    while (found > 0 && !isThere(found - 1)) found -= 1;
    while (found < most && this.#naming.allows(keys, found) && isThere(found)) found += 1;
    holding.found = found;
    return found;
  }

  /** At least one token is computed, since its logits are wanted. */
  #mostFound(sequence: Sequence): number {
    if (!this.mayReuse(sequence)) return 0;
    return Math.ceil(sequence.prefillTokens / this.#options.pageTokens) - 1;
  }

  /** Log-probabilities of a prompt come only with computing it. */
  mayReuse({ parameters }: Sequence): boolean {
    return this.#options.isEnabled && parameters.promptLogprobs === undefined;
  }

  /** What is known of a sequence. */
  holding(sequence: Sequence): Holding {
    const known = this.#holdings.get(sequence);
    if (known) return known;
    const holding = newHolding(sequence, this.#options.pageTokens);
    this.#holdings.set(sequence, holding);
    return holding;
  }
}
