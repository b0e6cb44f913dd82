/**
 * Requests that the engine has, and how long it has shown none of them a token; main thread only.
 */
export class EngineActivity {
  readonly #now: () => number;
  #open = 0;
  #since = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Requests that have not ended, those that wait included. */
  get open(): number {
    return this.#open;
  }

  /** Milliseconds since the last token, or since there is work; undefined without any. */
  get silentMs(): number | undefined {
    return this.#open === 0 ? undefined : this.#now() - this.#since;
  }

  begin(): void {
    if (this.#open === 0) this.#since = this.#now();
    this.#open += 1;
  }

  /** Tokens came. */
  progress(): void {
    this.#since = this.#now();
  }

  end(): void {
    this.#open -= 1;
  }
}
