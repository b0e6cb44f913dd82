import type { Sequence } from '../sequence.js';
import { PageKeys } from './page-keys.js';
import type { PagePool } from './page-pool.js';

/** What a prefix cache is made of. */
export interface PrefixCacheOptions {
  readonly pool: PagePool;
  readonly pageTokens: number;
  /** False: pages are handed out and taken back, and nothing is shared. */
  readonly isEnabled: boolean;
}

/** Tokens of prompts that were looked up, and those of them that were found. */
export interface PrefixCacheCounts {
  readonly queries: number;
  readonly hits: number;
}

/** What the cache knows of a sequence. */
interface Holding {
  readonly keys: PageKeys;
  /** Promises of the pool that are left. */
  promised: number;
  /** Pages from the start that are in the index, or have a twin there. */
  published: number;
  /** Pages that this sequence entered itself. */
  entered: number[];
  /** Steps in a row that it waited for a page that another computes. */
  waits: number;
  /** Tokens that it had once: what it gets back after a release is no hit. */
  furthest: number;
  wasCounted: boolean;
}

const mostWaits = 2;

/**
 * Block tables of sequences over a page pool. Pages that are full enter an index; a sequence that begins
 * with the same tokens takes them over instead of computing them.
 */
export class PrefixCache {
  readonly #options: PrefixCacheOptions;
  readonly #holdings = new WeakMap<Sequence, Holding>();
  /** Tables of sequences that are over, which a step that still runs may write to. */
  #leaving: { readonly step: number; readonly pages: number[] }[] = [];
  #landed = 0;
  readonly #counts = { queries: 0, hits: 0 };

  constructor(options: PrefixCacheOptions) {
    this.#options = options;
  }

  get pageTokens(): number {
    return this.#options.pageTokens;
  }

  /** Pages that could be promised now. */
  get availablePages(): number {
    return this.#options.pool.available;
  }

  get totalPages(): number {
    return this.#options.pool.total;
  }

  /** Whether pages are shared. */
  get isEnabled(): boolean {
    return this.#options.isEnabled;
  }

  get counts(): PrefixCacheCounts {
    return { ...this.#counts };
  }

  /** Pages of the sequence's prompt that are there already, without taking them. */
  lookup(sequence: Sequence): number[] {
    const { pool, pageTokens } = this.#options;
    const pages: number[] = [];
    if (!this.#mayReuse(sequence)) return pages;
    const { keys } = this.#holding(sequence);
    // At least one token is computed, since its logits are wanted.
    const most = Math.ceil(sequence.remainingPrefill / pageTokens) - 1;
    while (pages.length < most) {
      const page = pool.index.find(keys.at(pages.length));
      if (page === undefined) break;
      pages.push(page);
    }
    return pages;
  }

  /**
   * Takes the pages that are there and a promise of the others that its prefill needs; false when they are
   * not to be had now.
   *
   * @param heldBack pages that must be left over
   */
  admit(sequence: Sequence, heldBack: number): boolean {
    const { pool, pageTokens } = this.#options;
    const found = this.lookup(sequence);
    const wanted = Math.ceil(sequence.prefillTokens / pageTokens) - found.length;
    const unpinned = found.filter((page) => pool.isEvictable(page)).length;
    if (wanted + unpinned + heldBack > pool.available || !pool.promise(wanted)) return false;
    const holding = this.#holding(sequence);
    holding.promised = wanted;
    if (!holding.wasCounted && this.#mayReuse(sequence)) {
      this.#counts.queries += sequence.prompt.length;
    }
    holding.wasCounted = true;
    for (const page of found) this.#takeOver(sequence, holding, page);
    return true;
  }

  /**
   * Gives every sequence, in order, what others computed since the last step.
   *
   * @param live all that hold pages
   * @returns those whose next page another is computing: it costs them less to wait. None waits
   * for more than two steps, and one that is not over, without getting a page.
   */
  share(sequences: readonly Sequence[], live = sequences): ReadonlySet<Sequence> {
    const waiting = new Set<Sequence>();
    if (!this.#options.isEnabled || sequences.length === 0) return waiting;
    const flying = live.filter(({ isInFlight }) => isInFlight);
    const most = mostWaits + (flying.length > 0 ? 1 : 0);
    const claimed = new Set(flying.flatMap((sequence) => this.#keysInFlight(sequence)));
    for (const sequence of sequences) {
      const holding = this.#holding(sequence);
      this.#catchUp(sequence, holding);
      const key = this.#nextKey(sequence, holding);
      if (key === undefined) continue;
      const isWorthIt = claimed.has(key) && this.#canTakeOver(sequence);
      claimed.add(key);
      if (!isWorthIt || holding.waits >= most) continue;
      holding.waits += 1;
      waiting.add(sequence);
    }
    return waiting;
  }

  /**
   * Takes pages until there is room for so many tokens: first those that were promised, then any that
   * nobody was.
   *
   * @returns whether there is
   */
  grow(sequence: Sequence, tokens: number): boolean {
    const { pool, pageTokens } = this.#options;
    const holding = this.#holding(sequence);
    const wanted = Math.ceil(tokens / pageTokens);
    while (sequence.pages.length < wanted) {
      if (holding.promised > 0) holding.promised -= 1;
      else if (!pool.promise(1)) return false;
      sequence.pages.push(pool.take());
    }
    return true;
  }

  /** Enters the pages that are full by now and whose tokens are certain. */
  publish(sequence: Sequence): void {
    const { pool, pageTokens, isEnabled } = this.#options;
    if (!isEnabled || sequence.outcome === 'error') return;
    const holding = this.#holding(sequence);
    const { keys } = holding;
    const full = Math.floor(sequence.certainTokens / pageTokens);
    for (; holding.published < full; holding.published += 1) {
      const index = holding.published;
      const page = sequence.pages[index];
      if (page === undefined) return;
      if (pool.index.add(page, keys.at(index), keys.parentOf(index))) holding.entered.push(page);
    }
  }

  /**
   * The sequence lets its pages go; those that are full stay to be found. While a step that may still
   * write to them is under way they are nobody else's.
   *
   * @param step the last one that the sequence was part of
   */
  freeAfter(step: number, sequence: Sequence): void {
    const { pool } = this.#options;
    const holding = this.#holding(sequence);
    // What a failed step or a model gone wrong left behind must not reach others.
    if (sequence.outcome === 'error') for (const page of holding.entered) pool.forget(page);
    pool.breakPromise(holding.promised);
    holding.promised = 0;
    // What a step still computes of a sequence that was given up can be of use to others.
    if (step > this.#landed && sequence.state === 'finished') {
      this.#leaving.push({ step, pages: sequence.pages });
      return;
    }
    const pages = sequence.pages.splice(0);
    holding.furthest = Math.max(holding.furthest, sequence.landedTokens);
    sequence.computedTokens = 0;
    sequence.landedTokens = 0;
    Object.assign(holding, { published: 0, entered: [], waits: 0 });
    sequence.tableVersion += 1;
    if (step <= this.#landed) pool.letGo(pages);
    else this.#leaving.push({ step, pages });
  }

  /** Nothing of the steps up to this one runs any more. */
  landed(step: number): void {
    this.#landed = Math.max(this.#landed, step);
    const free = this.#leaving.filter((table) => table.step <= this.#landed);
    if (free.length === 0) return;
    this.#leaving = this.#leaving.filter((table) => table.step > this.#landed);
    for (const { pages } of free) this.#options.pool.letGo(pages.splice(0));
  }

  /** Forgets all pages that no sequence holds. @returns how many those were */
  flush(): number {
    return this.#options.pool.evictAll();
  }

  /** Throws a `LedgerError` unless the books of the pool are those of the sequences that live. */
  check(live: readonly Sequence[]): void {
    const tables = [...live, ...this.#leaving].map(({ pages }) => pages);
    const promised = live.reduce((sum, one) => sum + this.#holding(one).promised, 0);
    this.#options.pool.check(tables, promised);
  }

  /** Starts anew with books that do not balance; only while no sequence holds a page. */
  rebuild(): void {
    this.#leaving = [];
    this.#options.pool.reset();
  }

  #catchUp(sequence: Sequence, holding: Holding): void {
    const { pool } = this.#options;
    while (this.#canTakeOver(sequence)) {
      const page = pool.index.find(holding.keys.at(sequence.pages.length));
      if (page === undefined) return;
      pool.breakPromise(1);
      holding.promised -= 1;
      this.#takeOver(sequence, holding, page);
    }
  }

  #takeOver(sequence: Sequence, holding: Holding, page: number): void {
    const { pool, pageTokens } = this.#options;
    pool.share(page);
    sequence.pages.push(page);
    if (sequence.computedTokens >= holding.furthest && sequence.generated.length === 0) {
      sequence.cachedTokens += pageTokens;
      this.#counts.hits += pageTokens;
    }
    sequence.computedTokens += pageTokens;
    sequence.landedTokens += pageTokens;
    holding.published = sequence.pages.length;
    holding.waits = 0;
  }

  /** The name of the page that the sequence computes next, if its prompt fills that page. */
  #nextKey(sequence: Sequence, { keys }: Holding): string | undefined {
    const { pageTokens } = this.#options;
    const { computedTokens, remainingPrefill } = sequence;
    const index = Math.floor(computedTokens / pageTokens);
    const isFull = (index + 1) * pageTokens <= computedTokens + remainingPrefill;
    return isFull ? keys.at(index) : undefined;
  }

  /** Names of the full pages that a step which is not over computes. */
  #keysInFlight(sequence: Sequence): string[] {
    const { pageTokens } = this.#options;
    const { landedTokens, computedTokens, knownTokens } = sequence;
    const first = Math.floor(landedTokens / pageTokens);
    const end = Math.floor(Math.min(computedTokens, knownTokens) / pageTokens);
    const { keys } = this.#holding(sequence);
    return Array.from({ length: Math.max(0, end - first) }, (_, n) => keys.at(first + n));
  }

  /** Whether the next page could be another's: it begins here, and a token is left to compute. */
  #canTakeOver(sequence: Sequence): boolean {
    const { pageTokens } = this.#options;
    if (sequence.isInFlight) return false;
    const isAtBorder = sequence.pages.length * pageTokens === sequence.computedTokens;
    return this.#mayReuse(sequence) && isAtBorder && sequence.remainingPrefill > pageTokens;
  }

  /** Log-probabilities of a prompt come only with computing it. */
  #mayReuse({ parameters }: Sequence): boolean {
    return this.#options.isEnabled && parameters.promptLogprobs === undefined;
  }

  #holding(sequence: Sequence): Holding {
    const known = this.#holdings.get(sequence);
    if (known) return known;
    const keys = new PageKeys({
      pageTokens: this.#options.pageTokens,
      salt: sequence.parameters.cacheSalt,
      tokenAt: (position) => sequence.tokenAt(position),
    });
    const holding: Holding = {
      keys,
      promised: 0,
      published: 0,
      entered: [],
      waits: 0,
      furthest: 0,
      wasCounted: false,
    };
    this.#holdings.set(sequence, holding);
    return holding;
  }
}
