import type { Logger } from 'pino';

/** Why spans were lost. */
export const spanLosses = ['queue_full', 'export'] as const;
/** One of {@link spanLosses}: too many waited, or a collector took them not. */
export type SpanLoss = (typeof spanLosses)[number];

/** A collector that is away is no news every five seconds. */
const tellEveryMs = 60_000;

const sentences: Readonly<Record<SpanLoss, string>> = {
  queue_full: 'traces were given up: too many wait to be sent',
  export: 'traces could not be sent',
};

/**
 * Says in the log that spans were lost: of each cause the first at once, and those that follow with
 * their number once a minute.
 */
export class LostSpans {
  readonly #cause: SpanLoss;
  readonly #logger: Logger;
  #spans = 0;
  #error: Error | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(cause: SpanLoss, logger: Logger) {
    this.#cause = cause;
    this.#logger = logger;
  }

  /** So many more were lost. */
  add(spans: number, error?: Error): void {
    this.#spans += spans;
    this.#error = error;
    if (this.#timer === undefined) this.#tell();
  }

  /** Says what was not said yet. */
  close(): void {
    clearTimeout(this.#timer);
    if (this.#spans > 0) this.#log();
  }

  #tell(): void {
    this.#log();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#spans > 0) this.#tell();
    }, tellEveryMs);
    this.#timer.unref();
  }

  #log(): void {
    const spans = this.#spans;
    const error = this.#error && { name: this.#error.name, message: this.#error.message };
    this.#spans = 0;
    this.#logger.warn({ spans, ...(error ? { error } : {}) }, sentences[this.#cause]);
  }
}
