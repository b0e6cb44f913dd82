import type { Sequence } from '../sequence.js';

/** A page to copy before a step: a sequence is about to write to one that others hold, too. */
export interface PageCopy {
  readonly sequence: Sequence;
  readonly from: number;
  readonly to: number;
}

/**
 * Copies that were decided and are not under way. Who is given a page writes to it in a step behind
 * the copies, so their order is all that must be kept.
 */
export class PageCopies {
  #waiting: PageCopy[] = [];

  add(copy: PageCopy): void {
    this.#waiting.push(copy);
  }

  /** What the next step begins with; a sequence that has let its page go needs no copy. */
  take(): readonly PageCopy[] {
    if (this.#waiting.length === 0) return none;
    const taken = this.#waiting.filter(({ sequence, to }) => sequence.pages.includes(to));
    this.#waiting = [];
    return taken;
  }
}

const none: readonly PageCopy[] = [];
