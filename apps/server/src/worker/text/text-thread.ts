import { Worker } from 'node:worker_threads';
import { workerUrl } from '../../worker-url.js';
import { EngineWorkerError } from '../engine-worker-error.js';
import { limitThread, type ThreadLimit } from '../threads/thread-limit.js';
import { clientLeft, notRendered, shuttingDown, tookTooLong, workerLost } from './text-errors.js';
import type {
  FromText,
  TextJob,
  TextResult,
  TextSeconds,
  TextStage,
  TextTooLong,
  TextWorkerOptions,
  ToText,
} from './text-messages.js';

/** What one job may take. */
export interface TextLimits {
  readonly rendering: ThreadLimit;
  readonly tokenizing: ThreadLimit;
  /** For a worker to begin the job; a new one loads its tokenizer first. */
  readonly startMs: number;
  /** For a begun job that nobody waits for to end; a new worker costs about as much. */
  readonly unwantedMs: number;
}

/** Why a worker was given up. */
export const lostCauses = ['time', 'template', 'client', 'died'] as const;
/**
 * One of {@link lostCauses}: a job's time or a template's, a client that left, an end of its own.
 */
export type LostCause = (typeof lostCauses)[number];

/** What a thread tells of itself. */
export interface TextThreadEvents {
  /** A job was done. */
  onDone(seconds: TextSeconds): void;
  onLost(cause: LostCause): void;
  /** It can take a job again. */
  onIdle(): void;
}

interface Current {
  readonly id: number;
  readonly resolve: (result: TextResult | TextTooLong) => void;
  readonly reject: (error: Error) => void;
  /** Ends the wait for its client's leave. */
  readonly unwatch: () => void;
  stage: TextStage | 'starting';
  /** Ends the limits of its stage. */
  stopStage: () => void;
  /** Its client left. */
  isUnwanted: boolean;
  /** Set when it is begun and unwanted. */
  unwantedTimer?: NodeJS.Timeout;
}

const memoryMb = 2048;

/**
 * The main thread's side of one text worker, which does one job at a time. A job that takes too
 * long, or a template that eats time or memory, costs that worker its life and that job an error; a
 * new worker takes its place.
 */
export class TextThread {
  readonly #options: TextWorkerOptions;
  readonly #limits: TextLimits;
  readonly #events: TextThreadEvents;
  #current: Current | undefined;
  #worker: Worker | undefined;
  #nextId = 1;
  #isClosed = false;

  constructor(options: TextWorkerOptions, limits: TextLimits, events: TextThreadEvents) {
    this.#options = options;
    this.#limits = limits;
    this.#events = events;
  }

  get isIdle(): boolean {
    return this.#current === undefined;
  }

  /** True from its first job on: its tokenizer is there, or about to be. */
  get isStarted(): boolean {
    return this.#worker !== undefined;
  }

  /** Does the job; only while it is idle. Rejects at once when the signal aborts. */
  run(job: TextJob, signal: AbortSignal): Promise<TextResult | TextTooLong> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const { startMs } = this.#limits;
      const onOver = (): void => {
        this.#lose('time', `its worker did not start within ${startMs / 1000} s`);
      };
      const timer = setTimeout(onOver, startMs);
      const leave = (): void => this.#leave(id);
      const unwatch = (): void => signal.removeEventListener('abort', leave);
      const stopStage = (): void => clearTimeout(timer);
      const state = { stage: 'starting', isUnwanted: false } as const;
      this.#current = { id, resolve, reject, unwatch, stopStage, ...state };
      signal.addEventListener('abort', leave, { once: true });
      try {
        this.#alive().postMessage({ id, job } satisfies ToText);
      } catch (error) {
        this.#take()?.reject(error as Error);
        this.#events.onIdle();
      }
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const worker = this.#worker;
    this.#worker = undefined;
    this.#take()?.reject(shuttingDown());
    await worker?.terminate();
  }

  /** Nobody waits for the job any more. */
  #leave(id: number): void {
    const current = this.#current;
    if (current?.id !== id) return;
    current.reject(clientLeft());
    current.isUnwanted = true;
    // A worker that starts is for all jobs: clients with less patience than its start takes would
    // keep it from ever being there.
    if (current.stage !== 'starting') this.#expire(current);
  }

  /** Gives an unwanted job the time that it still may take. */
  #expire(current: Current): void {
    const { unwantedMs } = this.#limits;
    current.unwantedTimer ??= setTimeout(() => this.#lose('client'), unwantedMs);
  }

  #alive(): Worker {
    if (this.#worker) return this.#worker;
    const worker = new Worker(workerUrl('text/text-worker'), {
      workerData: this.#options,
      name: 'text',
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
    worker.unref();
    worker.on('message', (answer: FromText) => {
      this.#settle(answer);
    });
    worker.on('error', (error) => {
      if (this.#worker === worker) this.#lose('died', error.message);
    });
    worker.on('exit', () => {
      if (this.#worker === worker) this.#lose('died');
    });
    this.#worker = worker;
    return worker;
  }

  #settle(answer: FromText): void {
    if (this.#current?.id !== answer.id) return;
    if ('stage' in answer) {
      this.#begin(this.#current, answer);
      return;
    }
    const current = this.#take();
    if ('result' in answer) {
      this.#events.onDone(answer.seconds);
      current?.resolve(answer.result);
    } else current?.reject(new EngineWorkerError(answer.error));
    this.#events.onIdle();
  }

  #begin(current: Current, { stage, thread }: Extract<FromText, { stage: unknown }>): void {
    current.stopStage();
    const limit = this.#limits[stage];
    const cause = stage === 'rendering' ? 'template' : 'time';
    const onOver = (): void => this.#lose(cause, `it takes more than ${limit.limitMs / 1000} s`);
    current.stage = stage;
    current.stopStage = limitThread(thread, limit, onOver);
    if (current.isUnwanted) this.#expire(current);
  }

  /**
   * The worker is lost, and the job that it had with it; what a template costs is its messages'
   * doing.
   */
  #lose(cause: LostCause, reason = 'its worker ended'): void {
    const worker = this.#worker;
    const isRendering = this.#current?.stage === 'rendering';
    this.#worker = undefined;
    void worker?.terminate();
    this.#events.onLost(cause);
    const error = isRendering ? notRendered(reason) : lossError(cause, reason);
    this.#take()?.reject(error);
    // At once, so that the next job need not wait for a tokenizer. One that died by itself might do
    // so forever, for want of its files.
    if (cause !== 'died' && !this.#isClosed) this.#alive();
    this.#events.onIdle();
  }

  #take(): Current | undefined {
    const current = this.#current;
    this.#current = undefined;
    clearTimeout(current?.unwantedTimer);
    current?.stopStage();
    current?.unwatch();
    return current;
  }
}

function lossError(cause: LostCause, reason: string): Error {
  return cause === 'time' ? tookTooLong(reason) : workerLost(reason);
}
