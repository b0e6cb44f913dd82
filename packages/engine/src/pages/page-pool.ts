import { LedgerError } from '../errors/index.js';
import { PrefixIndex } from './prefix-index.js';

/** Pages by what they are; `free + evictable + pinned = total`. */
export interface PageCounts {
  readonly total: number;
  /** Without tokens. */
  readonly free: number;
  /** Held by nobody, with tokens that a later request may want. */
  readonly evictable: number;
  /** Held by at least one sequence. */
  readonly pinned: number;
  /** Pinned, or promised to a sequence that runs. */
  readonly reserved: number;
}

/**
 * The pages of the KV cache and who may use them. A sequence is promised the pages of its prompt
 * when it is admitted and takes them one by one; as it generates, it asks for more. A page may be
 * held by several sequences; when the last one lets go, it stays as long as nobody else needs the
 * room.
 */
export class PagePool {
  readonly total: number;
  readonly index = new PrefixIndex();
  readonly #free: number[];
  /** Sequences that hold each page. */
  readonly #holders: Uint32Array;
  /** In the order in which they were let go, so the first was unused longest. */
  readonly #evictable = new Set<number>();
  #promised = 0;

  constructor(total: number) {
    this.total = total;
    this.#free = [];
    this.#holders = new Uint32Array(total);
    this.reset();
  }

  /** Pages without tokens. */
  get free(): number {
    return this.#free.length;
  }

  /** Pages that hold known tokens for nobody in particular. */
  get evictable(): number {
    return this.#evictable.size;
  }

  /** Pages that at least one sequence holds. */
  get pinned(): number {
    return this.total - this.free - this.evictable;
  }

  /** Pages that could be promised now. */
  get available(): number {
    return this.free + this.evictable - this.#promised;
  }

  counts(): PageCounts {
    const { total, free, evictable, pinned } = this;
    return { total, free, evictable, pinned, reserved: pinned + this.#promised };
  }

  /** Promises pages to a sequence; false when they are not to be had now. */
  promise(pages: number): boolean {
    if (pages > this.available) return false;
    this.#promised += pages;
    return true;
  }

  /** Ends promises that were not redeemed. */
  breakPromise(pages: number): void {
    if (pages > this.#promised) {
      throw new LedgerError(`${pages} promises end of ${this.#promised} that were made`);
    }
    this.#promised -= pages;
  }

  /** Redeems a promise: a free page, or the one that was of no use for longest. */
  take(): number {
    if (this.#promised === 0) throw new LedgerError('a page was taken that was never promised');
    if (this.#free.length === 0) this.#evict();
    const page = this.#free.pop();
    if (page === undefined) throw new LedgerError('no page is left for a promise');
    this.#promised -= 1;
    this.#holders[page] = 1;
    return page;
  }

  isEvictable(page: number): boolean {
    return this.#evictable.has(page);
  }

  /** One more sequence holds a page of the index. */
  share(page: number): void {
    if (!this.index.has(page)) throw new LedgerError(`page ${page} is shared without known tokens`);
    this.#evictable.delete(page);
    this.#holders[page] = (this.#holders[page] ?? 0) + 1;
  }

  /** One more sequence holds a page that another one holds. */
  join(page: number): void {
    const holders = this.#holders[page] ?? 0;
    if (holders === 0) throw new LedgerError(`page ${page} is joined, and nobody holds it`);
    this.#holders[page] = holders + 1;
  }

  /** Whether its only holder may write to a page: nobody else counts on what is in it. */
  isPrivate(page: number): boolean {
    return this.#holders[page] === 1 && !this.index.has(page);
  }

  /**
   * A sequence lets its pages go, the last one first, so that chains are evicted from their tails.
   */
  letGo(pages: readonly number[]): void {
    for (const page of [...pages].reverse()) {
      const holders = this.#holders[page] ?? 0;
      if (holders === 0) throw new LedgerError(`page ${page} comes back twice`);
      this.#holders[page] = holders - 1;
      if (holders > 1) continue;
      if (this.index.has(page)) this.#evictable.add(page);
      else this.#free.push(page);
    }
  }

  /** Takes a page out of the index. */
  forget(page: number): void {
    this.index.remove(page);
    if (this.#evictable.delete(page)) this.#free.push(page);
  }

  /** Forgets every page that nobody holds. @returns how many those were */
  evictAll(): number {
    const pages = [...this.#evictable];
    for (const page of pages) this.forget(page);
    return pages.length;
  }

  /** All pages free, nothing promised, nothing known; only while no sequence holds a page. */
  reset(): void {
    this.index.clear();
    this.#evictable.clear();
    this.#holders.fill(0);
    this.#promised = 0;
    // Popped from the end, so pages are first handed out in ascending order.
    this.#free.length = 0;
    for (let page = this.total - 1; page >= 0; page -= 1) this.#free.push(page);
  }

  /**
   * Throws a `LedgerError` unless the books balance: every page is in one state, is held as often
   * as the tables say, and what was promised is there.
   */
  check(tables: Iterable<readonly number[]>, promised: number): void {
    const held = new Uint32Array(this.total);
    for (const table of tables) for (const page of table) held[page] = (held[page] ?? 0) + 1;
    const free = new Set(this.#free);
    const fail = (what: string): never => {
      throw new LedgerError(`${what}; pages ${JSON.stringify(this.counts())}`);
    };
    if (free.size !== this.#free.length) fail('a page is free twice');
    for (let page = 0; page < this.total; page += 1) {
      const [counted = 0, found = 0] = [this.#holders[page], held[page]];
      if (counted !== found)
        fail(`page ${page} counts ${counted} holders, ${found} tables have it`);
      const isEvictable = this.#evictable.has(page);
      const states = Number(free.has(page)) + Number(isEvictable) + Number(counted > 0);
      if (states !== 1) fail(`page ${page} is in ${states} states`);
      if (free.has(page) && this.index.has(page)) fail(`page ${page} is free, and in the index`);
      if (isEvictable && !this.index.has(page)) fail(`page ${page} is kept, and in no index`);
    }
    if (promised !== this.#promised) fail(`${this.#promised} pages promised, ${promised} expected`);
    if (this.available < 0) fail('more pages are promised than there are');
  }

  #evict(): void {
    const [oldest] = this.#evictable;
    if (oldest !== undefined) {
      this.forget(this.index.tailOf(oldest, (page) => this.#evictable.has(page)));
    }
  }
}
