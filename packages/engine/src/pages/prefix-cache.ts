import type { Sequence } from '../sequence.js';
import type { Holding } from './holding.js';
import { PageCopies, type PageCopy } from './page-copies.js';
import { isNew, namesInFlight, nextName } from './page-names.js';
import { type PrefixCacheOptions, PrefixSearch } from './prefix-search.js';
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
 * Block tables of sequences over a page pool. Pages that are full enter an index; a sequence that begins
 * with the same tokens takes them over instead of computing them.
 */
export class PrefixCache {
  readonly #options: PrefixCacheOptions;
  /** What is there of prompts. */
  readonly search: PrefixSearch;
  readonly #prompts = new PromptHolders();
  readonly #copies = new PageCopies();
  /** Tables of sequences that are over, which a step that still runs may write to. */
  #leaving: { readonly step: number; readonly pages: number[] }[] = [];
  #landed = 0;
  readonly #counts = { queries: 0, hits: 0 };
  /** Prompts taken over in this decision whose last page will be copied. */
  #toCopy = 0;

  constructor(options: PrefixCacheOptions) {
    this.#options = options;
    this.search = new PrefixSearch(options);
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

  /**
   * Takes the pages that are there and a promise of the others that its prefill needs; false when they are
   * not to be had now.
   *
   * @param heldBack pages that must be left over
   */
  admit(sequence: Sequence, heldBack: number): boolean {
    const { pool, pageTokens } = this.#options;
    const found = this.search.lookup(sequence);
    if (!found) return false;
    const wanted = Math.ceil(sequence.prefillTokens / pageTokens) - found.length;
    const unpinned = found.filter((page) => pool.isEvictable(page)).length;
    if (wanted + unpinned + heldBack > pool.available || !pool.promise(wanted)) return false;
    const holding = this.search.holding(sequence);
    holding.promised = wanted;
    if (!holding.wasCounted && this.search.mayReuse(sequence)) {
      this.#counts.queries += sequence.prompt.length;
    }
    holding.wasCounted = true;
    for (const page of found) this.#takeOver(sequence, holding, page);
    return true;
  }

  /** A decision begins: what is bounded for each starts anew. */
  begin(): void {
    this.#toCopy = 0;
    this.search.begin();
  }

  /**
   * Gives every sequence, in order, what others computed since the last step. One whose whole prompt is
   * there takes that over with its last page, which need not be full: it has `sharedTokens` then, and one
   * token to compute, whose logits are wanted. Before those that are over let their pages go, and in `share`.
   */
  handOver(sequences: readonly Sequence[]): void {
    if (!this.#options.isEnabled) return;
    for (const sequence of sequences) this.#handOver(sequence, this.search.holding(sequence));
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
      flying.flatMap((one) => namesInFlight(one, this.search.holding(one).keys, pageTokens)),
    );
    for (const sequence of sequences) {
      const holding = this.search.holding(sequence);
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

  /**
   * Takes pages until there is room for so many tokens: first those that were promised, then any that
   * nobody was. A page that others hold, too, and that is about to be written to, is replaced by a copy.
   *
   * @returns whether there is
   */
  grow(sequence: Sequence, tokens: number): boolean {
    const { pageTokens } = this.#options;
    const holding = this.search.holding(sequence);
    if (sequence.sharedTokens > 0 && tokens > sequence.sharedTokens) {
      if (!this.#ownLastPage(sequence, holding)) return false;
      sequence.sharedTokens = 0;
    }
    const wanted = Math.ceil(tokens / pageTokens);
    while (sequence.pages.length < wanted) {
      const page = this.#takePage(holding);
      if (page === undefined) return false;
      sequence.pages.push(page);
    }
    return true;
  }

  /** Copies of pages with which the next step begins; each is told once. */
  takeCopies(): readonly PageCopy[] {
    return this.#copies.take();
  }

  /** Enters the pages that are full by now and whose tokens are certain. */
  publish(sequence: Sequence): void {
    const { pool, pageTokens, isEnabled } = this.#options;
    if (!isEnabled || sequence.outcome === 'error') return;
    const holding = this.search.holding(sequence);
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

  /**
   * The sequence lets its pages go; those that are full stay to be found. While a step that may still
   * write to them is under way they are nobody else's.
   *
   * @param step the last one that the sequence was part of
   */
  freeAfter(step: number, sequence: Sequence): void {
    const { pool } = this.#options;
    const holding = this.search.holding(sequence);
    if (holding.prompt !== undefined) this.#prompts.remove(holding.prompt, sequence);
    holding.prompt = undefined;
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
    sequence.sharedTokens = 0;
    Object.assign(holding, { published: 0, entered: [], found: 0, waits: 0 });
    sequence.tableVersion += 1;
    this.#letGo(step, pages);
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
    const promised = live.reduce((sum, one) => sum + this.search.holding(one).promised, 0);
    this.#options.pool.check(tables, promised);
  }

  /** Starts anew with books that do not balance; only while no sequence holds a page. */
  rebuild(): void {
    this.#leaving = [];
    this.#prompts.clear();
    this.#options.pool.reset();
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
      if (!this.search.allows(keys, next)) return false;
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

  /** The page with the end of the sequence's prompt: one of the index if it is full, else another's. */
  #lastPage({ prompt, pages }: Sequence, { keys }: Holding): number | undefined {
    const { pool, pageTokens } = this.#options;
    const key = keys.ofPrompt(prompt.length);
    if (prompt.length % pageTokens === 0) return pool.index.find(key);
    return this.#prompts.find(key)?.pages[pages.length];
  }

  /** All of the prompt but its last page is there: that is taken over as it is, and not written to. */
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

  /** The page that its next token goes to becomes its own, unless it is already. */
  #ownLastPage(sequence: Sequence, holding: Holding): boolean {
    const { pool, pageTokens } = this.#options;
    const index = Math.floor(sequence.sharedTokens / pageTokens);
    const from = sequence.pages[index];
    if (from === undefined) return true;
    if (pool.isPrivate(from)) {
      pool.breakPromise(holding.promised);
      holding.promised = 0;
      return true;
    }
    const to = this.#takePage(holding);
    if (to === undefined) return false;
    sequence.pages[index] = to;
    sequence.tableVersion += 1;
    this.#copies.add({ sequence, from, to });
    this.#letGo(sequence.lastStep, [from]);
    return true;
  }

  /** One that it was promised, or one that nobody was; undefined = there is none. */
  #takePage(holding: Holding): number | undefined {
    const { pool } = this.#options;
    if (holding.promised > 0) holding.promised -= 1;
    else if (!pool.promise(1)) return undefined;
    return pool.take();
  }

  /** While a step that may use them is under way pages are nobody else's. */
  #letGo(step: number, pages: number[]): void {
    if (step <= this.#landed) this.#options.pool.letGo(pages);
    else this.#leaving.push({ step, pages });
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
    return this.search.mayReuse(sequence) && isAtBorder && sequence.remainingPrefill > pageTokens;
  }

  /** Whether it lacks no more than the last page of its prompt, of which it has computed nothing. */
  #canTakeWhole(sequence: Sequence): boolean {
    const { pageTokens } = this.#options;
    const { computedTokens, remainingPrefill, pages } = sequence;
    if (sequence.isInFlight || !isNew(sequence) || !this.search.mayReuse(sequence)) return false;
    const isAtBorder = pages.length * pageTokens === computedTokens;
    return isAtBorder && remainingPrefill >= 1 && remainingPrefill <= pageTokens;
  }
}
