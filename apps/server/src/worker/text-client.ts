import { Worker } from 'node:worker_threads';
import { ApiError } from '../errors/index.js';
import { workerUrl } from '../worker-url.js';
import { EngineWorkerError } from './engine-worker-error.js';
import type { FromText, TextJob, TextResult, TextWorkerOptions, ToText } from './text-messages.js';

/** What routes know of the text worker. */
export interface TextLink {
  /** Renders and tokenizes. */
  run(job: TextJob): Promise<TextResult>;
  close(): Promise<void>;
}

interface Task {
  readonly id: number;
  readonly job: TextJob;
  readonly resolve: (result: TextResult) => void;
  readonly reject: (error: Error) => void;
}

const limitMs = 60_000;
const memoryMb = 2048;

/**
 * The main thread's side of the text worker, which does one job after the other. A job that takes too
 * long, or a template that eats all memory, costs that worker its life and that job an error; the
 * jobs behind it go on in a new worker.
 */
export class TextClient implements TextLink {
  readonly #options: TextWorkerOptions;
  readonly #queue: Task[] = [];
  #current: { readonly task: Task; readonly timer: NodeJS.Timeout } | undefined;
  #worker: Worker | undefined;
  #nextId = 1;

  constructor(options: TextWorkerOptions) {
    this.#options = options;
  }

  run(job: TextJob): Promise<TextResult> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ id: this.#nextId++, job, resolve, reject });
      this.#next();
    });
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    const tasks = this.#queue.splice(0);
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
    const task = this.#take();
    if ('result' in answer) task?.resolve(answer.result);
    else task?.reject(new EngineWorkerError(answer.error));
    this.#next();
  }

  /** The worker is lost, and the job that it had with it. */
  #lose(reason: string): void {
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
    this.#take()?.reject(lost(reason));
    this.#next();
  }

  #take(): Task | undefined {
    const current = this.#current;
    this.#current = undefined;
    clearTimeout(current?.timer);
    return current?.task;
  }
}

/** Trying the same prompt again would fail the same way. */
function lost(reason: string): ApiError {
  const message = `the prompt could not be prepared: ${reason}`;
  const headers = { 'x-should-retry': 'false' };
  return new ApiError({ status: 500, code: 'internal_error', message, headers });
}
