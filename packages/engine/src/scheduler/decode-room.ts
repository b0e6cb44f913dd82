import type { PrefixCache } from '../pages/prefix-cache.js';
import type { Sequence } from '../sequence.js';
import type { RunningSet } from './running-set.js';
import { matching } from './seldom-lists.js';
import type { TenantShare } from './tenant-share.js';
import { chooseVictim, losesLess } from './victim.js';

/** Whose pages, and who gives them up. */
export interface DecodeRoomOptions {
  readonly cache: PrefixCache;
  readonly running: RunningSet;
  readonly shares: TenantShare;
  /** Takes the pages of a sequence; `isForShare`: its tenant has its share. */
  readonly preempt: (victim: Sequence, isForShare: boolean) => void;
}

/**
 * Makes room for the next token of each sequence that decodes, at the cost of others where it must.
 */
export class DecodeRoom {
  readonly #options: DecodeRoomOptions;
  #isLacking = false;

  constructor(options: DecodeRoomOptions) {
    this.#options = options;
  }

  /** Since `begin` somebody found no page. */
  get isLacking(): boolean {
    return this.#isLacking;
  }

  /** A decision begins. */
  begin(): void {
    this.#isLacking = false;
  }

  /**
   * Makes room for a token of every row.
   *
   * @param step the one before, or undefined while one is under way: nobody gives way then
   * @returns rows that have none in this step
   */
  grow(step: number | undefined): ReadonlySet<Sequence> {
    const { cache, running } = this.#options;
    const needy = matching(running.decodes.rows, this.#isNeedy);
    if (needy.length === 0) return noneStalled;
    const stalled = new Set<Sequence>();
    for (const sequence of needy.length > cache.availablePages ? lastToGoFirst(needy) : needy) {
      if (sequence.state !== 'decoding') continue;
      if (this.#grow(sequence)) continue;
      if (step !== undefined && this.#make(sequence, step)) continue;
      this.#isLacking = true;
      if (step === undefined) break;
      stalled.add(sequence);
    }
    return stalled;
  }

  /**
   * Nobody can move: whoever would lose most goes on, if it can, and the protected give way, too.
   */
  force(): Sequence | undefined {
    const { decodes } = this.#options.running;
    const [first] = lastToGoFirst(decodes.rows);
    this.#isLacking = true;
    return first && this.#make(first, undefined) ? first : undefined;
  }

  /** Whether its next token goes to a page that it does not have, or that others hold, too. */
  readonly #isNeedy = ({ computedTokens, pages, sharedTokens }: Sequence): boolean =>
    computedTokens >= pages.length * this.#options.cache.pageTokens || sharedTokens > 0;

  #grow(sequence: Sequence): boolean {
    const { cache, running, shares } = this.#options;
    if (!shares.mayGrow(sequence, running)) return false;
    return cache.grow(sequence, sequence.computedTokens + 1);
  }

  /** Room for one more token; takes pages of others if it must. False: not in this step. */
  #make(sequence: Sequence, step: number | undefined): boolean {
    const { running, shares, preempt } = this.#options;
    while (!this.#grow(sequence)) {
      // Who has its share takes from its own.
      const isFull = !shares.mayGrow(sequence, running);
      const from = isFull ? shares.of(sequence, running.live) : running.live;
      const victim = chooseVictim(from, sequence, step);
      if (!victim) return false;
      preempt(victim, isFull);
      if (victim === sequence) return false;
    }
    return true;
  }
}

const noneStalled: ReadonlySet<Sequence> = new Set();

/** Whoever would be preempted last takes pages first. */
function lastToGoFirst(sequences: readonly Sequence[]): Sequence[] {
  return [...sequences].sort((a, b) => (losesLess(a, b) ? 1 : -1));
}
