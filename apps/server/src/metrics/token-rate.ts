const windowSeconds = 10;

/** Tokens a second over the last ten seconds; reads a monotonic clock in milliseconds. */
export class TokenRate {
  readonly #now: () => number;
  readonly #counts = new Array<number>(windowSeconds).fill(0);
  readonly #startedSecond: number;
  #second: number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#startedSecond = Math.floor(now() / 1000);
    this.#second = this.#startedSecond;
  }

  /** Counts tokens as of now. */
  add(tokens: number): void {
    const at = this.#advance() % windowSeconds;
    this.#counts[at] = (this.#counts[at] ?? 0) + tokens;
  }

  /** Mean over the window, or over the time since the start if that is shorter. */
  get perSecond(): number {
    const second = this.#advance();
    const seconds = Math.min(windowSeconds, second - this.#startedSecond + 1);
    return this.#counts.reduce((sum, count) => sum + count, 0) / seconds;
  }

  /** Forgets the seconds that left the window. */
  #advance(): number {
    const second = Math.floor(this.#now() / 1000);
    const passed = Math.min(windowSeconds, second - this.#second);
    for (let step = 0; step < passed; step += 1) this.#counts[(second - step) % windowSeconds] = 0;
    this.#second = second;
    return second;
  }
}
