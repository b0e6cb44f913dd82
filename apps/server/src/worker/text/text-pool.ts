import { charactersOf } from './job-size.js';
import { clientLeft, shuttingDown, tooManyWait } from './text-errors.js';
import type {
  TextJob,
  TextResult,
  TextSeconds,
  TextTooLong,
  TextWorkerOptions,
} from './text-messages.js';
import { type QueueBounds, type QueuedJob, TextQueue } from './text-queue.js';
import { type LostCause, type TextLimits, TextThread } from './text-thread.js';

/** Who wants a job done. */
export interface TextClient {
  /** Whose turn it takes. */
  readonly tenant: string;
  /** Aborts when nobody waits for it any more. */
  readonly signal: AbortSignal;
}

/** What routes know of the text workers. */
export interface TextLink {
  /**
   * Renders and tokenizes; rejects at once, and does no more than it must, when the signal aborts.
   *
   * @throws ApiError 503 `overloaded`, when too much waits already
   */
  run(job: TextJob, client: TextClient): Promise<TextResult | TextTooLong>;
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
  /** There may be more than one tenant: then none has all of several workers. Default false. */
  readonly isShared?: () => boolean;
  /** Of the jobs that no worker has. */
  readonly mostWaiting: QueueBounds;
  readonly limits?: Partial<TextLimits>;
}

interface Waiting extends QueuedJob {
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
 * Text workers behind one queue, which takes tenants in turn and refuses what would wait beyond its
 * bounds. A job goes to a worker that has nothing to do, so a prompt that takes long delays others
 * only while every worker has one; of several workers one is always left to other tenants. A job
 * whose client left is not begun.
 */
export class TextPool implements TextLink {
  readonly #threads: readonly TextThread[];
  readonly #queue: TextQueue<Waiting>;
  readonly #events: TextPoolEvents;
  readonly #isShared: () => boolean;
  /** Whose job each thread had last. */
  readonly #tenants = new Map<TextThread, string>();
  #isClosed = false;

  constructor(
    { workers, isShared = () => false, mostWaiting, limits, ...worker }: TextPoolOptions,
    events: TextPoolEvents = {},
  ) {
    this.#events = events;
    this.#isShared = isShared;
    this.#queue = new TextQueue(mostWaiting);
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

  run(job: TextJob, { tenant, signal }: TextClient): Promise<TextResult | TextTooLong> {
    if (signal.aborted) return Promise.reject(clientLeft());
    if (this.#isClosed) return Promise.reject(shuttingDown());
    const characters = charactersOf(job);
    // While a worker has nothing to do that the tenant may have, none of its jobs waits.
    const mustWait = !this.#idle() || !this.#mayRun(tenant);
    if (mustWait && !this.#queue.hasRoom(characters)) {
      return Promise.reject(tooManyWait(this.#queue.length));
    }
    return new Promise((resolve, reject) => {
      const leave = (): void => this.#drop(waiting);
      const waiting: Waiting = { job, tenant, characters, signal, resolve, reject, leave };
      this.#queue.add(waiting);
      signal.addEventListener('abort', waiting.leave, { once: true });
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (let waiting = this.#queue.take(); waiting; waiting = this.#queue.take()) {
      waiting.signal.removeEventListener('abort', waiting.leave);
      waiting.reject(shuttingDown());
    }
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  #next(): void {
    for (let thread = this.#idle(); thread && !this.#isClosed; thread = this.#idle()) {
      const waiting = this.#queue.take((tenant) => this.#mayRun(tenant));
      if (!waiting) break;
      const { job, tenant, signal, resolve, reject, leave } = waiting;
      signal.removeEventListener('abort', leave);
      this.#tenants.set(thread, tenant);
      thread.run(job, signal).then(resolve, reject);
    }
    const running = this.#threads.filter(({ isIdle }) => !isIdle).length;
    this.#events.onLoad?.({ waiting: this.#queue.length, running });
  }

  /** False for a tenant whose jobs have all workers but the last one, which is for others. */
  #mayRun(tenant: string): boolean {
    const { length: workers } = this.#threads;
    if (workers < 2 || !this.#isShared()) return true;
    const isOwn = (thread: TextThread): boolean =>
      !thread.isIdle && this.#tenants.get(thread) === tenant;
    return this.#threads.filter(isOwn).length < workers - 1;
  }

  /** The least loaded one; of idle ones one that has its tokenizer already. */
  #idle(): TextThread | undefined {
    const idle = this.#threads.filter(({ isIdle }) => isIdle);
    return idle.find(({ isStarted }) => isStarted) ?? idle[0];
  }

  #drop(waiting: Waiting): void {
    if (!this.#queue.remove(waiting)) return;
    waiting.reject(clientLeft());
    this.#next();
  }
}
