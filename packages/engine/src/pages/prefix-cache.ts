import type { Sequence } from '../sequence.js';
import type { PageCopy } from './page-copies.js';
import { PageTables } from './page-tables.js';
import { type PrefixCacheOptions, PrefixSearch } from './prefix-search.js';
import { type PrefixCacheCounts, PromptSharing } from './prompt-sharing.js';

/**
 * Block tables of sequences over a page pool. Pages that are full enter an index; a sequence that
 * begins with the same tokens takes them over instead of computing them.
 */
export class PrefixCache {
  readonly #options: PrefixCacheOptions;
  /** What is there of prompts. */
  readonly search: PrefixSearch;
  readonly #tables: PageTables;
  readonly #sharing: PromptSharing;

  constructor(options: PrefixCacheOptions) {
    this.#options = options;
    this.search = new PrefixSearch(options);
    this.#tables = new PageTables(options, this.search);
    this.#sharing = new PromptSharing(options, this.search);
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
    return this.#sharing.counts;
  }

  /**
   * Takes the pages that are there and a promise of the others that its prefill needs; false when
   * they are not to be had now.
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
    this.search.holding(sequence).promised = wanted;
    this.#sharing.admit(sequence, found);
    return true;
  }

  /** A decision begins: what is bounded for each starts anew. */
  begin(): void {
    this.#sharing.begin();
    this.search.begin();
  }

  /**
   * Gives every sequence, in order, what others computed since the last step. One whose whole
   * prompt is there takes that over with its last page, which need not be full: it has
   * `sharedTokens` then, and one token to compute, whose logits are wanted. Before those that are
   * over let their pages go, and in `share`.
   */
  handOver(sequences: readonly Sequence[]): void {
    this.#sharing.handOver(sequences);
  }

  /**
   * Hands over, and says who waits for more.
   *
   * @param live all that hold pages
   * @returns those whose next page another is computing: it costs them less to wait. None waits
   * for more than two steps, and one that is not over, without getting a page.
   */
  share(sequences: readonly Sequence[], live = sequences): ReadonlySet<Sequence> {
    return this.#sharing.share(sequences, live);
  }

  /**
   * Takes pages until there is room for so many tokens: first those that were promised, then any
   * that nobody was. A page that others hold, too, and that is about to be written to, is replaced
   * by a copy.
   *
   * @returns whether there is
   */
  grow(sequence: Sequence, tokens: number): boolean {
    return this.#tables.grow(sequence, tokens);
  }

  /** Copies of pages with which the next step begins; each is told once. */
  takeCopies(): readonly PageCopy[] {
    return this.#tables.takeCopies();
  }

  /** Enters the pages that are full by now and whose tokens are certain. */
  publish(sequence: Sequence): void {
    this.#sharing.publish(sequence);
  }

  /**
   * The sequence lets its pages go; those that are full stay to be found. While a step that may
   * still write to them is under way they are nobody else's.
   *
   * @param step the last one that the sequence was part of
   */
  freeAfter(step: number, sequence: Sequence): void {
    this.#sharing.leave(sequence);
    this.#tables.freeAfter(step, sequence);
  }

  /** Nothing of the steps up to this one runs any more. */
  landed(step: number): void {
    this.#tables.landed(step);
  }

  /** Forgets all pages that no sequence holds. @returns how many those were */
  flush(): number {
    return this.#options.pool.evictAll();
  }

  /** Throws a `LedgerError` unless the books of the pool are those of the sequences that live. */
  check(live: readonly Sequence[]): void {
    this.#tables.check(live);
  }

  /** Starts anew with books that do not balance; only while no sequence holds a page. */
  rebuild(): void {
    this.#sharing.clear();
    this.#tables.rebuild();
  }
}
