import type { Backlog } from '@altstream/engine';

/** Messages of events that may be under way to the main thread before the engine holds back. */
const credit = 64;

/**
 * Counts messages that the main thread has not dealt with. Without credit no prompt is started; at
 * twice as many nothing is computed. All is well again at half of the credit, so that it does not
 * flutter.
 */
export class Credits {
  readonly #tell: (backlog: Backlog) => void;
  #open = 0;
  #backlog: Backlog = 'none';

  /** @param tell called with each change */
  constructor(tell: (backlog: Backlog) => void) {
    this.#tell = tell;
  }

  /** Messages that were sent and not acknowledged. */
  get open(): number {
    return this.#open;
  }

  get backlog(): Backlog {
    return this.#backlog;
  }

  /** A message goes out. */
  spend(): void {
    this.#open += 1;
    this.#settle();
  }

  /** The other side dealt with messages. */
  refund(messages: number): void {
    this.#open -= messages;
    this.#settle();
  }

  #settle(): void {
    const backlog = this.#next();
    if (backlog === this.#backlog) return;
    this.#backlog = backlog;
    this.#tell(backlog);
  }

  #next(): Backlog {
    if (this.#open >= 2 * credit) return 'stuck';
    if (this.#open >= credit) return 'behind';
    return this.#open <= credit / 2 ? 'none' : this.#backlog === 'none' ? 'none' : 'behind';
  }
}
