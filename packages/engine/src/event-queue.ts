/** Events pushed from one side, awaited one by one on the other. */
export class EventQueue<T> {
  readonly #events: T[] = [];
  #isEnded = false;
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

  /** Yields events until the end; `onLeave` is called if the reader leaves before it. */
  async *iterate(onLeave: () => void): AsyncGenerator<T, void, undefined> {
    let isComplete = false;
    try {
      for (;;) {
        const event = this.#events.shift();
        if (event !== undefined) yield event;
        else if (this.#isEnded) break;
        else await this.#next();
      }
      isComplete = true;
    } finally {
      if (!isComplete) onLeave();
    }
  }

  async #next(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }
}
