import { LedgerError } from './errors/index.js';

/**
 * The pages of the KV cache and who may use them.
 *
 * A sequence reserves pages for its whole life when it is admitted and takes them one by one as it
 * grows, so an admitted sequence never waits for a page. The ledger is exact:
 * free + taken = total, and reserved ≥ taken.
 */
export class PagePool {
  readonly total: number;
  readonly #free: number[];
  readonly #taken: Uint8Array;
  #reserved = 0;

  constructor(total: number) {
    this.total = total;
    // Popped from the end, so pages are first handed out in ascending order.
    this.#free = Array.from({ length: total }, (_, index) => total - 1 - index);
    this.#taken = new Uint8Array(total);
  }

  /** Pages that no sequence holds. */
  get free(): number {
    return this.#free.length;
  }

  /** Pages promised to admitted sequences, taken or not. */
  get reserved(): number {
    return this.#reserved;
  }

  /** Promises pages to a sequence; false when they are not to be had now. */
  reserve(pages: number): boolean {
    if (this.#reserved + pages > this.total) return false;
    this.#reserved += pages;
    return true;
  }

  /** Hands out one reserved page. */
  take(): number {
    const page = this.#free.pop();
    if (page === undefined) throw new LedgerError('a page was taken that was never reserved');
    this.#taken[page] = 1;
    return page;
  }

  /** Ends a sequence's reservation and takes its pages back. */
  giveBack(pages: readonly number[], reserved: number): void {
    if (pages.length > reserved) {
      throw new LedgerError(`${pages.length} pages come back of ${reserved} reserved ones`);
    }
    for (const page of pages) {
      if (this.#taken[page] !== 1) throw new LedgerError(`page ${page} comes back twice`);
      this.#taken[page] = 0;
      this.#free.push(page);
    }
    this.#reserved -= reserved;
  }

  /** Throws a `LedgerError` unless the books balance. */
  check(): void {
    const taken = this.#taken.reduce((sum, flag) => sum + flag, 0);
    if (taken + this.#free.length !== this.total || this.#reserved < taken) {
      throw new LedgerError(
        `free ${this.#free.length} + taken ${taken} ≠ total ${this.total}, or reserved ${this.#reserved} < taken`,
      );
    }
  }
}
