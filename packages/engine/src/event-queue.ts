/** Events pushed from one side, awaited one by one on the other. */
export class EventQueue<T> {
  readonly #events: T[] = [];
  #isEnded = false;
  /** The reader took the last event, or left. */
  #isRead = false;
  #wake: (() => void) | undefined;

  push(event: T): void {
    this.#events.push(event);
    this.#wake?.();
  }

  /** No event follows. */
  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  /**
   * Yields events until the end. `onLeave` is called if the reader leaves before it: in the middle,
   * before the first event, or while one is awaited.
   */
  iterate(onLeave: () => void): AsyncIterableIterator<T, void, undefined> {
    const events = this.#read();
    return {
      next: () => events.next(),
      return: () => {
        if (!this.#isRead) onLeave();
        this.#isRead = true;
        this.end();
        return events.return();
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  async *#read(): AsyncGenerator<T, void, undefined> {
    for (;;) {
      const event = this.#events.shift();
      if (event !== undefined) yield event;
      else if (this.#isEnded) break;
      else await this.#next();
    }
    this.#isRead = true;
  }

  async #next(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }
}
