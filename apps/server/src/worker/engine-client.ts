import { type MessagePort, Worker } from 'node:worker_threads';
import { ServerError } from '../errors/index.js';
import { workerUrl } from '../worker-url.js';
import { EngineActivity } from './engine-activity.js';
import type { EngineLink, EngineRequest, EngineState, LoadProgress } from './engine-link.js';
import { EngineWorkerError } from './engine-worker-error.js';
import { Inbox } from './events/inbox.js';
import type { LostMatcher } from './grammar/grammar-messages.js';
import { Heartbeat } from './heartbeat.js';
import type {
  EngineInfo,
  EngineWorkerOptions,
  FromEngine,
  ProfileOptions,
  ProfileResult,
  ToEngine,
  WireError,
  WireEvent,
  WireParameters,
  WorkerStats,
} from './messages.js';
import { type FlightRecord, FlightRecorder } from './steps/flight-recorder.js';
import type { StepTimes } from './steps/step-log.js';

interface Pending<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
}

/** What the engine worker reports besides its answers. */
export interface EngineReports {
  readonly onProgress: (progress: LoadProgress) => void;
  /** Called once if the engine dies after it was ready. */
  readonly onFailure: (error: Error) => void;
  /** Told of faults that the engine lives with. */
  readonly onWarning: (error: Error) => void;
  /** Told of each event of a request that nobody waits for. */
  readonly onLate: () => void;
  /** Told the sizes and times of steps. */
  readonly onSteps: (steps: StepTimes) => void;
}

/** When a silent engine counts as dead, in seconds; 0 = never. */
export interface WatchdogOptions {
  readonly watchdogSeconds: number;
}

const closeWithinMs = 10_000;

/** The main thread's side of the engine worker. */
export class EngineClient implements EngineLink {
  readonly activity = new EngineActivity();
  readonly #heartbeat = new Heartbeat();
  readonly #recorder = new FlightRecorder();
  readonly #worker: Worker;
  readonly #reports: EngineReports;
  readonly #ready: Promise<EngineInfo>;
  readonly #submissions = new Map<number, Pending<EngineRequest>>();
  readonly #listeners = new Map<number, (event: WireEvent) => void>();
  readonly #inbox = new Inbox({
    onEvent: (id, event) => this.#deliver(id, event),
    onDone: () => this.#post({ type: 'acknowledge', messages: 1 }),
  });
  readonly #questions = new Map<number, Pending<never>>();
  #settleReady: Pending<EngineInfo> | undefined;
  readonly #watchdog: NodeJS.Timeout;
  #nextId = 1;
  #state: EngineState = 'loading';
  #progress: LoadProgress = { phase: 'start', done: 0, total: 1 };

  constructor(options: EngineWorkerOptions & WatchdogOptions, reports: EngineReports) {
    this.#reports = reports;
    this.#ready = new Promise((resolve, reject) => {
      this.#settleReady = { resolve, reject };
    });
    this.#ready.catch(() => undefined);
    this.#worker = new Worker(workerUrl('engine-worker'), {
      workerData: {
        ...options,
        heartbeat: this.#heartbeat.memory,
        recorder: this.#recorder.memory,
      },
      name: 'engine',
    });
    this.#watchdog = setInterval(() => this.#checkHeart(options.watchdogSeconds), 1000);
    this.#watchdog.unref();
    this.#worker.on('message', (message: FromEngine) => {
      this.#receive(message);
    });
    this.#worker.on('error', (error) => {
      this.#fail(error);
    });
    this.#worker.on('exit', () => {
      if (this.#state !== 'closed') this.#fail(new Error('the engine worker ended unexpectedly'));
    });
  }

  get state(): EngineState {
    return this.#state;
  }

  get progress(): LoadProgress {
    return this.#progress;
  }

  get heartbeatAge(): number | undefined {
    return this.#heartbeat.ageSeconds;
  }

  /** The last steps, oldest first; also of an engine that is dead. */
  get lastSteps(): readonly FlightRecord[] {
    return this.#recorder.records;
  }

  ready(): Promise<EngineInfo> {
    return this.#ready;
  }

  submit(
    prompt: readonly number[],
    parameters: WireParameters,
    listener: (event: WireEvent) => void,
  ): Promise<EngineRequest> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      if (this.#state !== 'ready') {
        reject(this.#absent());
        return;
      }
      this.#submissions.set(id, { resolve, reject });
      this.#listeners.set(id, listener);
      this.activity.begin();
      this.#post({ type: 'submit', id, prompt: Int32Array.from(prompt), parameters });
    });
  }

  connectGrammars(port: MessagePort, lost?: LostMatcher): void {
    const message = { type: 'grammars', port, ...(lost && { lost }) } as const;
    this.#worker.postMessage(message satisfies ToEngine, [port]);
  }

  stats(): Promise<WorkerStats> {
    return this.#ask<WorkerStats>((id) => ({ type: 'stats', id }));
  }

  describe(): Promise<Record<string, unknown>> {
    return this.#ask<Record<string, unknown>>((id) => ({ type: 'describe', id }));
  }

  flushPrefixCache(): Promise<number> {
    return this.#ask<number>((id) => ({ type: 'flush', id }));
  }

  async startProfile(options: ProfileOptions): Promise<void> {
    await this.#ask<undefined>((id) => ({ type: 'start-profile', id, options }));
  }

  stopProfile(): Promise<ProfileResult> {
    return this.#ask<ProfileResult>((id) => ({ type: 'stop-profile', id }));
  }

  /** Asks the worker to end; one that does not within ten seconds is ended. */
  async close(): Promise<void> {
    if (this.#state === 'closed') return;
    const wasAlive = this.#state === 'ready';
    this.#state = 'closed';
    clearInterval(this.#watchdog);
    if (wasAlive) {
      const exited = new Promise<void>((resolve) => {
        this.#worker.once('exit', () => resolve());
      });
      this.#post({ type: 'close' });
      const late = new Promise<void>((resolve) => {
        setTimeout(resolve, closeWithinMs).unref();
      });
      await Promise.race([exited, late]);
    }
    await this.#worker.terminate();
    this.#tellAll(new ServerError('ENGINE_CLOSED', 'the engine was closed'), 'ENGINE_CLOSED');
  }

  #ask<T>(question: (id: number) => ToEngine): Promise<T> {
    const id = this.#nextId++;
    return new Promise<T>((resolve, reject) => {
      if (this.#state !== 'ready') {
        reject(this.#absent());
        return;
      }
      this.#questions.set(id, { resolve, reject } as unknown as Pending<never>);
      this.#post(question(id));
    });
  }

  #absent(): ServerError {
    return new ServerError('ENGINE_CLOSED', `the engine is ${this.#state}`);
  }

  #post(message: ToEngine): void {
    this.#worker.postMessage(message);
  }

  #receive(message: FromEngine): void {
    switch (message.type) {
      case 'progress':
        this.#progress = message;
        this.#reports.onProgress(message);
        return;
      case 'ready':
        this.#state = 'ready';
        this.#settleReady?.resolve(message.info);
        return;
      case 'failed':
        this.#fail(new EngineWorkerError(message.error));
        return;
      case 'accepted':
        this.#accept(message.id);
        return;
      case 'refused':
        if (this.#listeners.delete(message.id)) this.activity.end();
        this.#takeSubmission(message.id)?.reject(new EngineWorkerError(message.error));
        return;
      case 'events':
        this.#reports.onSteps(message.steps);
        this.#inbox.add(message.events);
        return;
      case 'stats':
        this.#reports.onSteps(message.steps);
        this.#answer(message.id, message.stats);
        return;
      case 'described':
        this.#answer(message.id, message.report);
        return;
      case 'warning':
        this.#reports.onWarning(new EngineWorkerError(message.error));
        return;
      case 'answered':
        this.#answer(message.id, message.value);
        return;
      case 'unanswered':
        this.#questions.get(message.id)?.reject(new EngineWorkerError(message.error));
        this.#questions.delete(message.id);
        return;
      case 'closed':
        return;
    }
  }

  #accept(id: number): void {
    const abort = (): void => {
      if (this.#listeners.has(id)) this.#post({ type: 'abort', id });
    };
    this.#takeSubmission(id)?.resolve({ abort });
  }

  #takeSubmission(id: number): Pending<EngineRequest> | undefined {
    const pending = this.#submissions.get(id);
    this.#submissions.delete(id);
    return pending;
  }

  #deliver(id: number, event: WireEvent): void {
    const listener = this.#listeners.get(id);
    if (!listener) this.#reports.onLate();
    if (event.type !== 'prefill') this.activity.progress();
    if (event.type === 'finish' && this.#listeners.delete(id)) this.activity.end();
    listener?.(event);
  }

  #answer(id: number, value: unknown): void {
    const pending = this.#questions.get(id) as Pending<unknown> | undefined;
    this.#questions.delete(id);
    pending?.resolve(value);
  }

  /** The thread neither turns nor, if it has work, ends a step. */
  #checkHeart(limitSeconds: number): void {
    const age = this.#heartbeat.ageSeconds;
    if (this.#state !== 'ready' || limitSeconds === 0 || age === undefined) return;
    if (age <= limitSeconds) return;
    this.#fail(new Error(`the engine made no step for ${age} s (--watchdog-timeout)`));
  }

  /** The worker is gone: everything that waits for it is told so. */
  #fail(error: Error): void {
    if (this.#state === 'failed' || this.#state === 'closed') return;
    const wasReady = this.#state === 'ready';
    this.#state = 'failed';
    clearInterval(this.#watchdog);
    this.#tellAll(error, 'ENGINE_DEAD');
    if (wasReady) this.#reports.onFailure(error);
  }

  /** Everything that still waits for the worker is told that nothing comes. */
  #tellAll(error: Error, code: string): void {
    this.#inbox.flush();
    this.#settleReady?.reject(error);
    for (const { reject } of [...this.#submissions.values(), ...this.#questions.values()]) {
      reject(error);
    }
    const wire: WireError = {
      name: 'Error',
      code,
      message: error.message,
      facts: {},
    };
    const listeners = [...this.#listeners.values()];
    this.#submissions.clear();
    this.#questions.clear();
    this.#listeners.clear();
    for (const _ of listeners) this.activity.end();
    for (const listener of listeners) {
      listener({
        type: 'finish',
        reason: 'error',
        promptTokens: 0,
        cachedTokens: 0,
        generatedTokens: 0,
        error: wire,
      });
    }
  }
}
