import type { Sequence } from '../sequence.js';
import type { Holding } from './holding.js';
import { PageCopies, type PageCopy } from './page-copies.js';
import type { PrefixCacheOptions, PrefixSearch } from './prefix-search.js';

/**
 * Block tables of sequences over a page pool: pages are taken as texts grow, and given back when no
 * step uses them any more.
 */
export class PageTables {
  readonly #options: PrefixCacheOptions;
  readonly #search: PrefixSearch;
  readonly #copies = new PageCopies();
  /** Tables of sequences that are over, which a step that still runs may write to. */
  #leaving: { readonly step: number; readonly pages: number[] }[] = [];
  #landed = 0;

  /** @param search has what is known of each sequence */
  constructor(options: PrefixCacheOptions, search: PrefixSearch) {
    this.#options = options;
    this.#search = search;
  }

  /**
   * Takes pages until there is room for so many tokens: first those that were promised, then any
   * that nobody was. A page that others hold, too, and that is about to be written to, is replaced
   * by a copy.
   *
   * @returns whether there is
   */
  grow(sequence: Sequence, tokens: number): boolean {
    const { pageTokens } = this.#options;
    const holding = this.#search.holding(sequence);
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

  /**
   * The sequence lets its pages go; those that are full stay to be found. While a step that may
   * still write to them is under way they are nobody else's.
   *
   * @param step the last one that the sequence was part of
   */
  freeAfter(step: number, sequence: Sequence): void {
    const { pool } = this.#options;
    const holding = this.#search.holding(sequence);
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
    if (this.#leaving.length === 0) return;
    const free = this.#leaving.filter((table) => table.step <= this.#landed);
    if (free.length === 0) return;
    this.#leaving = this.#leaving.filter((table) => table.step > this.#landed);
    for (const { pages } of free) this.#options.pool.letGo(pages.splice(0));
  }

  /** Throws a `LedgerError` unless the books of the pool are those of the sequences that live. */
  check(live: readonly Sequence[]): void {
    const tables = [...live, ...this.#leaving].map(({ pages }) => pages);
    const promised = live.reduce((sum, one) => sum + this.#search.holding(one).promised, 0);
    this.#options.pool.check(tables, promised);
  }

  /** Starts anew with books that do not balance; only while no sequence holds a page. */
  rebuild(): void {
    this.#leaving = [];
    this.#options.pool.reset();
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
}
