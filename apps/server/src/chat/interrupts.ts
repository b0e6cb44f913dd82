/** What a Ctrl-C did. */
export type Interruption = 'stopped' | 'warned' | 'left';

/** Ctrl-C stops the answer that comes; a second one, with nothing asked in between, leaves. */
export class Interrupts {
  readonly #leave: () => void;
  #answer: AbortController | undefined;
  #isSecond = false;

  constructor(leave: () => void) {
    this.#leave = leave;
  }

  /** Runs something that a Ctrl-C may stop. */
  async during<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.#isSecond = false;
    const answer = new AbortController();
    this.#answer = answer;
    try {
      return await run(answer.signal);
    } finally {
      this.#answer = undefined;
    }
  }

  /** Takes a Ctrl-C. */
  interrupt(): Interruption {
    if (this.#isSecond) {
      this.#answer?.abort();
      this.#leave();
      return 'left';
    }
    this.#isSecond = true;
    this.#answer?.abort();
    return this.#answer ? 'stopped' : 'warned';
  }
}
