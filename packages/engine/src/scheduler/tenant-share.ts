import type { PrefixCache } from '../pages/prefix-cache.js';
import { shareOf } from '../pages/share.js';
import type { Sequence } from '../sequence.js';
import type { RunningSet } from './running-set.js';

/**
 * Keeps what each tenant's sequences hold, and were promised, within a share of the pages. A page
 * that several sequences of a tenant hold counts once; one that several tenants hold counts for
 * each.
 */
export class TenantShare {
  readonly #cache: PrefixCache;
  readonly #isOn: boolean;
  readonly #mostPages: number;
  /** The count in which each page was seen last. */
  readonly #seen: Uint32Array;
  #count = 0;

  /** @param share of all pages, above 0 and at most 1; 1 = there is no bound */
  constructor(cache: PrefixCache, share: number) {
    this.#cache = cache;
    this.#isOn = share < 1;
    this.#mostPages = shareOf(cache.totalPages, share);
    this.#seen = new Uint32Array(cache.totalPages);
  }

  /**
   * Whether what it computes first fits beside what its tenant holds. Alone it always does: no
   * sequence is longer than a share.
   *
   * @param live all sequences that hold pages
   * @param heldBack pages for what those of its tenant may still generate
   */
  admits(sequence: Sequence, live: readonly Sequence[], heldBack: () => number): boolean {
    if (!this.#isOn) return true;
    const own = this.of(sequence, live);
    if (own.length === 0) return true;
    const held = this.#held(own);
    // Undefined: the cache does not admit it either, as it has not looked far enough.
    const found = this.#cache.search.lookup(sequence);
    if (!found) return true;
    const known = found.filter((page) => this.#seen[page] === this.#count).length;
    const wanted = Math.ceil(sequence.prefillTokens / this.#cache.pageTokens) - known;
    return held + wanted + heldBack() <= this.#mostPages;
  }

  /** Whether it may take one more page; one that it was promised is counted already. */
  mayGrow(sequence: Sequence, running: Pick<RunningSet, 'live'>): boolean {
    if (!this.#isOn || this.#cache.search.holding(sequence).promised > 0) return true;
    return this.#held(this.of(sequence, running.live)) < this.#mostPages;
  }

  /** Pages of the tenant that holds most. */
  largest(live: readonly Sequence[]): number {
    const tenants = new Map<string, Sequence[]>();
    for (const sequence of live) {
      const own = tenants.get(sequence.tenant);
      if (own) own.push(sequence);
      else tenants.set(sequence.tenant, [sequence]);
    }
    return Math.max(0, ...Array.from(tenants.values(), (own) => this.#held(own)));
  }

  /** Sequences of the same tenant. */
  of({ tenant }: Sequence, live: readonly Sequence[]): readonly Sequence[] {
    return live.filter((one) => one.tenant === tenant);
  }

  #held(own: readonly Sequence[]): number {
    this.#count += 1;
    let pages = 0;
    for (const sequence of own) {
      pages += this.#cache.search.holding(sequence).promised;
      for (const page of sequence.pages) {
        if (this.#seen[page] === this.#count) continue;
        this.#seen[page] = this.#count;
        pages += 1;
      }
    }
    return pages;
  }
}
