import { clientLeft, shuttingDown } from './text-errors.js';
import type {
  TextJob,
  TextResult,
  TextSeconds,
  TextTooLong,
  TextWorkerOptions,
} from './text-messages.js';
import { type LostCause, type TextLimits, TextThread } from './text-thread.js';

/** What routes know of the text workers. */
export interface TextLink {
  /**
   * Renders and tokenizes; rejects at once, and does no more than it must, when the signal aborts.
   */
  run(job: TextJob, signal: AbortSignal): Promise<TextResult | TextTooLong>;
  close(): Promise<void>;
}

/** What happens in the workers, by their number from 0. */
export interface TextPoolEvents {
  onDone?(worker: number, seconds: TextSeconds): void;
  onLost?(worker: number, cause: LostCause): void;
  /** Jobs that wait for a worker, and those that have one. */
  onLoad?(load: { readonly waiting: number; readonly running: number }): void;
}

/** How a pool is made. */
export interface TextPoolOptions extends TextWorkerOptions {
  /** Workers at most; each is started by the first job that finds the others busy. */
  readonly workers: number;
  readonly limits?: Partial<TextLimits>;
}

interface Waiting {
  readonly job: TextJob;
  readonly signal: AbortSignal;
  readonly resolve: (result: TextResult | TextTooLong) => void;
  readonly reject: (error: Error) => void;
  readonly leave: () => void;
}

const usualLimits: TextLimits = {
  rendering: { limitMs: 2000, mostWaitMs: 30_000 },
  tokenizing: { limitMs: 60_000, mostWaitMs: 180_000 },
  startMs: 60_000,
  unwantedMs: 1000,
};

/**
 * Text workers behind one queue. A job goes to a worker that has nothing to do, so a prompt that
 * takes long delays others only while every worker has one. A job whose client left is not begun.
 */
export class TextPool implements TextLink {
  readonly #threads: readonly TextThread[];
  readonly #queue: Waiting[] = [];
  readonly #events: TextPoolEvents;
  #isClosed = false;

  constructor({ workers, limits, ...worker }: TextPoolOptions, events: TextPoolEvents = {}) {
    this.#events = events;
    const each = { ...usualLimits, ...limits };
    this.#threads = Array.from(
      { length: workers },
      (_, index) =>
        new TextThread(worker, each, {
          onDone: (seconds) => events.onDone?.(index, seconds),
          onLost: (cause) => events.onLost?.(index, cause),
          onIdle: () => this.#next(),
        }),
    );
  }

  run(job: TextJob, signal: AbortSignal): Promise<TextResult | TextTooLong> {
    if (signal.aborted) return Promise.reject(clientLeft());
    if (this.#isClosed) return Promise.reject(shuttingDown());
    return new Promise((resolve, reject) => {
      const waiting = { job, signal, resolve, reject, leave: () => this.#drop(waiting) };
      this.#queue.push(waiting);
      signal.addEventListener('abort', waiting.leave, { once: true });
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { signal, leave, reject } of this.#queue.splice(0)) {
      signal.removeEventListener('abort', leave);
      reject(shuttingDown());
    }
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  #next(): void {
    for (let thread = this.#idle(); thread && !this.#isClosed; thread = this.#idle()) {
      const waiting = this.#queue.shift();
      if (!waiting) break;
      const { job, signal, resolve, reject, leave } = waiting;
      signal.removeEventListener('abort', leave);
      thread.run(job, signal).then(resolve, reject);
    }
    const running = this.#threads.filter(({ isIdle }) => !isIdle).length;
    this.#events.onLoad?.({ waiting: this.#queue.length, running });
  }

  /** The least loaded one; of idle ones one that has its tokenizer already. */
  #idle(): TextThread | undefined {
    const idle = this.#threads.filter(({ isIdle }) => isIdle);
    return idle.find(({ isStarted }) => isStarted) ?? idle[0];
  }

  #drop(waiting: Waiting): void {
    const place = this.#queue.indexOf(waiting);
    if (place < 0) return;
    this.#queue.splice(place, 1);
    waiting.reject(clientLeft());
    this.#next();
  }
}
