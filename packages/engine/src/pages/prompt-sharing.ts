import type { Sequence } from '../sequence.js';
import type { Holding } from './holding.js';
import { isNew, namesInFlight, nextName } from './page-names.js';
import type { PrefixCacheOptions, PrefixSearch } from './prefix-search.js';
import { PromptHolders } from './prompt-holders.js';

/** Tokens of prompts that were looked up, and those of them that were found. */
export interface PrefixCacheCounts {
  readonly queries: number;
  readonly hits: number;
}

const mostWaits = 2;
/** Prompts taken over in a step whose last page is copied in the next, over all layers. */
const mostToCopy = 2;

/**
 * Gives sequences the pages of others that begin with the same tokens: those of the index, and
 * those that are only just computed.
 */
export class PromptSharing {
  readonly #options: PrefixCacheOptions;
  readonly #search: PrefixSearch;
  readonly #prompts = new PromptHolders();
  readonly #counts = { queries: 0, hits: 0 };
  /** Prompts taken over in this decision whose last page will be copied. */
  #toCopy = 0;

  /** @param search has what is there of prompts */
  constructor(options: PrefixCacheOptions, search: PrefixSearch) {
    this.#options = options;
    this.#search = search;
  }

  get counts(): PrefixCacheCounts {
    return { ...this.#counts };
  }

  /** A decision begins: what is bounded for each starts anew. */
  begin(): void {
    this.#toCopy = 0;
  }

  /** A sequence that was admitted gets the pages that were found for it. */
  admit(sequence: Sequence, found: readonly number[]): void {
    const holding = this.#search.holding(sequence);
    if (!holding.wasCounted && this.#search.mayReuse(sequence)) {
      this.#counts.queries += sequence.prompt.length;
    }
    holding.wasCounted = true;
    for (const page of found) this.#takeOver(sequence, holding, page);
  }

  /**
   * Gives every sequence, in order, what others computed since the last step. One whose whole
   * prompt is there takes that over with its last page, which need not be full: it has
   * `sharedTokens` then, and one token to compute, whose logits are wanted. Before those that are
   * over let their pages go, and in `share`.
   */
  handOver(sequences: readonly Sequence[]): void {
    if (!this.#options.isEnabled) return;
    for (const sequence of sequences) this.#handOver(sequence, this.#search.holding(sequence));
  }

  /**
   * Hands over, and says who waits for more.
   *
   * @param live all that hold pages
   * @returns those whose next page another is computing: it costs them less to wait. None waits
   * for more than two steps, and one that is not over, without getting a page.
   */
  share(sequences: readonly Sequence[], live = sequences): ReadonlySet<Sequence> {
    const waiting = new Set<Sequence>();
    const { isEnabled, pageTokens } = this.#options;
    if (!isEnabled || sequences.length === 0) return waiting;
    const flying = live.filter(({ isInFlight }) => isInFlight);
    const most = mostWaits + (flying.length > 0 ? 1 : 0);
    const claimed = new Set(
      flying.flatMap((one) => namesInFlight(one, this.#search.holding(one).keys, pageTokens)),
    );
    for (const sequence of sequences) {
      const holding = this.#search.holding(sequence);
      if (this.#handOver(sequence, holding)) {
        if (sequence.sharedTokens === 0) waiting.add(sequence);
        continue;
      }
      const key = nextName(sequence, holding.keys, pageTokens);
      if (key === undefined) continue;
      const mayTake = this.#canTakeOver(sequence) || this.#canTakeWhole(sequence);
      const isWorthIt = claimed.has(key) && mayTake;
      claimed.add(key);
      if (!isWorthIt || holding.waits >= most) continue;
      holding.waits += 1;
      waiting.add(sequence);
    }
    return waiting;
  }

  /** Enters the pages that are full by now and whose tokens are certain. */
  publish(sequence: Sequence): void {
    const { pool, pageTokens, isEnabled } = this.#options;
    if (!isEnabled || sequence.outcome === 'error') return;
    const holding = this.#search.holding(sequence);
    const { keys } = holding;
    const full = Math.floor(sequence.certainTokens / pageTokens);
    for (; holding.published < full; holding.published += 1) {
      const index = holding.published;
      const page = sequence.pages[index];
      if (page === undefined) return;
      if (pool.index.add(page, keys.at(index), keys.parentOf(index))) holding.entered.push(page);
    }
    const { length } = sequence.prompt;
    if (sequence.landedTokens >= length && length % pageTokens > 0) this.#hold(sequence, holding);
  }

  /** The sequence lets its pages go: nobody takes over from it any more. */
  leave(sequence: Sequence): void {
    const holding = this.#search.holding(sequence);
    if (holding.prompt !== undefined) this.#prompts.remove(holding.prompt, sequence);
    holding.prompt = undefined;
    // What a failed step or a model gone wrong left behind must not reach others.
    const { pool } = this.#options;
    if (sequence.outcome === 'error') for (const page of holding.entered) pool.forget(page);
  }

  /** Forgets who has which prompt. */
  clear(): void {
    this.#prompts.clear();
  }

  /** @returns whether it computes nothing now: its whole prompt is there, or the search goes on */
  #handOver(sequence: Sequence, holding: Holding): boolean {
    if (sequence.sharedTokens > 0) return true;
    const { pageTokens } = this.#options;
    if (!this.#catchUp(sequence, holding)) return true;
    if (!this.#canTakeWhole(sequence)) return false;
    const page = this.#lastPage(sequence, holding);
    if (page === undefined) return false;
    const isFull = sequence.prompt.length % pageTokens === 0;
    if (!isFull && this.#toCopy === mostToCopy) return true;
    if (!isFull) this.#toCopy += 1;
    this.#takeWhole(sequence, holding, page);
    return true;
  }

  /** @returns whether it got all that is there */
  #catchUp(sequence: Sequence, holding: Holding): boolean {
    const { pool } = this.#options;
    const { keys } = holding;
    while (this.#canTakeOver(sequence)) {
      const next = sequence.pages.length;
      if (!this.#search.allows(keys, next)) return false;
      const page = pool.index.find(keys.at(next));
      if (page === undefined) return true;
      pool.breakPromise(1);
      holding.promised -= 1;
      this.#takeOver(sequence, holding, page);
    }
    return true;
  }

  #takeOver(sequence: Sequence, holding: Holding, page: number): void {
    const { pool, pageTokens } = this.#options;
    pool.share(page);
    sequence.pages.push(page);
    this.#found(sequence, holding, pageTokens);
    holding.published = sequence.pages.length;
  }

  /**
   * The page with the end of the sequence's prompt: one of the index if it is full, else another's.
   */
  #lastPage({ prompt, pages }: Sequence, { keys }: Holding): number | undefined {
    const { pool, pageTokens } = this.#options;
    const key = keys.ofPrompt(prompt.length);
    if (prompt.length % pageTokens === 0) return pool.index.find(key);
    return this.#prompts.find(key)?.pages[pages.length];
  }

  /**
   * All of the prompt but its last page is there: that is taken over as it is, and not written to.
   */
  #takeWhole(sequence: Sequence, holding: Holding, page: number): void {
    const { pool, pageTokens } = this.#options;
    const { length } = sequence.prompt;
    sequence.pages.push(page);
    sequence.sharedTokens = length;
    this.#found(sequence, holding, length - 1 - sequence.computedTokens);
    if (length % pageTokens !== 0) {
      // The promise stays: it is for the copy.
      pool.join(page);
      this.#hold(sequence, holding);
      return;
    }
    pool.share(page);
    pool.breakPromise(1);
    holding.promised -= 1;
    holding.published = sequence.pages.length;
  }

  /** From now on others may take over its prompt. */
  #hold(sequence: Sequence, holding: Holding): void {
    if (holding.prompt !== undefined) return;
    holding.prompt = holding.keys.ofPrompt(sequence.prompt.length);
    this.#prompts.add(holding.prompt, sequence);
  }

  #found(sequence: Sequence, holding: Holding, tokens: number): void {
    if (sequence.computedTokens >= holding.furthest && sequence.generated.length === 0) {
      sequence.cachedTokens += tokens;
      this.#counts.hits += tokens;
    }
    sequence.computedTokens += tokens;
    sequence.landedTokens += tokens;
    holding.waits = 0;
  }

  /** Whether the next page could be another's: it begins here, and a token is left to compute. */
  #canTakeOver(sequence: Sequence): boolean {
    const { pageTokens } = this.#options;
    if (sequence.isInFlight) return false;
    const isAtBorder = sequence.pages.length * pageTokens === sequence.computedTokens;
    return this.#search.mayReuse(sequence) && isAtBorder && sequence.remainingPrefill > pageTokens;
  }

  /**
   * Whether it lacks no more than the last page of its prompt, of which it has computed nothing.
   */
  #canTakeWhole(sequence: Sequence): boolean {
    const { pageTokens } = this.#options;
    const { computedTokens, remainingPrefill, pages } = sequence;
    if (sequence.isInFlight || !isNew(sequence) || !this.#search.mayReuse(sequence)) return false;
    const isAtBorder = pages.length * pageTokens === computedTokens;
    return isAtBorder && remainingPrefill >= 1 && remainingPrefill <= pageTokens;
  }
}
