import type { MetricMaker, Value } from './metric-maker.js';

/** How long each phase of the start took. */
export class StartMetrics {
  readonly #seconds: Value;
  readonly #now: () => number;
  #phase: string | undefined;
  #sinceMs = 0;

  constructor(make: MetricMaker, now: () => number = () => performance.now()) {
    this.#seconds = make.gauge('startup_seconds', 'Time of each phase of the start', ['phase']);
    this.#now = now;
  }

  /** A phase begins, or goes on. */
  enter(phase: string): void {
    if (phase === this.#phase) return;
    this.#leave();
    this.#phase = phase;
    this.#sinceMs = this.#now();
  }

  /** The last phase is over. */
  end(): void {
    this.#leave();
    this.#phase = undefined;
  }

  #leave(): void {
    if (this.#phase === undefined) return;
    this.#seconds.set((this.#now() - this.#sinceMs) / 1000, { phase: this.#phase });
  }
}
