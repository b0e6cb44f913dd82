import { Worker } from 'node:worker_threads';
import { ApiError, clientClosedRequest } from '../errors/index.js';
import { workerUrl } from '../worker-url.js';
import { EngineWorkerError } from './engine-worker-error.js';
import type {
  FromText,
  TextJob,
  TextResult,
  TextSeconds,
  TextTooLong,
  TextWorkerOptions,
  ToText,
} from './text-messages.js';
import { limitThread } from './threads/thread-limit.js';

/** What routes know of the text worker. */
export interface TextLink {
  /** Renders and tokenizes; rejects at once, and does no more than it must, when the signal aborts. */
  run(job: TextJob, signal: AbortSignal): Promise<TextResult | TextTooLong>;
  close(): Promise<void>;
}

interface Task {
  readonly id: number;
  readonly job: TextJob;
  readonly resolve: (result: TextResult | TextTooLong) => void;
  readonly reject: (error: Error) => void;
}

interface Current {
  readonly task: Task;
  readonly timer: NodeJS.Timeout;
  /** Ends the watch of its template, while that is rendered. */
  readonly stopWatch?: () => void;
}

const limitMs = 60_000;
const renderLimit = { limitMs: 2000, mostWaitMs: 30_000 };
/** A job that nobody waits for may end within this time; a new worker costs about as much. */
const unwantedMs = 1000;
const memoryMb = 2048;

/**
 * The main thread's side of the text worker, which does one job after the other. A job that takes too
 * long, or a template that eats time or memory, costs that worker its life and that job an error; the
 * jobs behind it go on in a new worker. A job whose client left is not begun; one that runs already
 * keeps the others waiting for a second at most.
 */
export class TextClient implements TextLink {
  readonly #options: TextWorkerOptions;
  readonly #onTimes: ((seconds: TextSeconds) => void) | undefined;
  readonly #queue: Task[] = [];
  #current: Current | undefined;
  #worker: Worker | undefined;
  #nextId = 1;

  /** @param onTimes told what each job took */
  constructor(options: TextWorkerOptions, onTimes?: (seconds: TextSeconds) => void) {
    this.#options = options;
    this.#onTimes = onTimes;
  }

  run(job: TextJob, signal: AbortSignal): Promise<TextResult | TextTooLong> {
    if (signal.aborted) return Promise.reject(left());
    return new Promise((resolve, reject) => {
      const task = { id: this.#nextId++, job, resolve, reject };
      this.#queue.push(task);
      signal.addEventListener('abort', () => this.#drop(task), { once: true });
      this.#next();
    });
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    const tasks = this.#queue.splice(0);
    this.#take()?.reject(lost('the server is shutting down'));
    this.#lose('the server is shutting down');
    for (const { reject } of tasks) reject(lost('the server is shutting down'));
    await worker?.terminate();
  }

  #next(): void {
    if (this.#current) return;
    const task = this.#queue.shift();
    if (!task) return;
    const timer = setTimeout(() => this.#lose(`it took more than ${limitMs / 1000} s`), limitMs);
    this.#current = { task, timer };
    try {
      this.#alive().postMessage({ id: task.id, job: task.job } satisfies ToText);
    } catch (error) {
      this.#take()?.reject(error as Error);
      this.#next();
    }
  }

  /** Nobody waits for the task any more. */
  #drop(task: Task): void {
    const place = this.#queue.indexOf(task);
    if (place >= 0) this.#queue.splice(place, 1);
    task.reject(left());
    if (this.#current?.task !== task) return;
    clearTimeout(this.#current.timer);
    const timer = setTimeout(() => this.#lose('its client left'), unwantedMs);
    this.#current = { ...this.#current, timer };
  }

  #alive(): Worker {
    if (this.#worker) return this.#worker;
    const worker = new Worker(workerUrl('text-worker'), {
      workerData: this.#options,
      name: 'text',
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
    worker.unref();
    worker.on('message', (answer: FromText) => {
      this.#settle(answer);
    });
    worker.on('error', (error) => {
      if (this.#worker === worker) this.#lose(error.message);
    });
    worker.on('exit', () => {
      if (this.#worker === worker) this.#lose('its worker ended');
    });
    this.#worker = worker;
    return worker;
  }

  #settle(answer: FromText): void {
    if (this.#current?.task.id !== answer.id) return;
    if ('rendering' in answer) {
      this.#watchTemplate(this.#current, answer.rendering);
      return;
    }
    const task = this.#take();
    if ('result' in answer) {
      this.#onTimes?.(answer.seconds);
      task?.resolve(answer.result);
    } else task?.reject(new EngineWorkerError(answer.error));
    this.#next();
  }

  #watchTemplate(
    { stopWatch, ...current }: Current,
    stage: Extract<FromText, { rendering: unknown }>['rendering'],
  ): void {
    stopWatch?.();
    this.#current = current;
    if (stage === 'done') return;
    const seconds = renderLimit.limitMs / 1000;
    const onOver = (): void => this.#lose(`it takes more than ${seconds} s`);
    this.#current = { ...current, stopWatch: limitThread(stage.thread, renderLimit, onOver) };
  }

  /** The worker is lost, and the job that it had with it; what a template costs is its messages' doing. */
  #lose(reason: string): void {
    const worker = this.#worker;
    const isRendering = this.#current?.stopWatch !== undefined;
    this.#worker = undefined;
    void worker?.terminate();
    this.#take()?.reject(isRendering ? notRendered(reason) : lost(reason));
    this.#next();
  }

  #take(): Task | undefined {
    const current = this.#current;
    this.#current = undefined;
    clearTimeout(current?.timer);
    current?.stopWatch?.();
    return current?.task;
  }
}

function left(): ApiError {
  const message = 'the client left before its prompt was prepared';
  return new ApiError({ status: clientClosedRequest, code: 'client_closed_request', message });
}

function notRendered(reason: string): ApiError {
  const message = `the chat template cannot be rendered with these messages: ${reason}; send fewer or shorter ones`;
  return new ApiError({ status: 400, code: 'invalid_value', param: 'messages', message });
}

/** Trying the same prompt again would fail the same way. */
function lost(reason: string): ApiError {
  const message = `the prompt could not be prepared: ${reason}`;
  const headers = { 'x-should-retry': 'false' };
  return new ApiError({ status: 500, code: 'internal_error', message, headers });
}
