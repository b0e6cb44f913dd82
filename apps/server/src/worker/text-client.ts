import { Worker } from 'node:worker_threads';
import { ApiError } from '../errors/index.js';
import { workerUrl } from '../worker-url.js';
import { EngineWorkerError } from './engine-client.js';
import type { FromText, TextJob, TextResult, TextWorkerOptions, ToText } from './text-messages.js';

interface Pending {
  readonly resolve: (result: TextResult) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

const limitMs = 60_000;
const memoryMb = 2048;

/**
 * The main thread's side of the text worker. A job that takes too long, or a template that eats all
 * memory, costs that worker its life and its jobs an error; the next job gets a new one.
 */
export class TextClient {
  readonly #options: TextWorkerOptions;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | undefined;
  #nextId = 1;

  constructor(options: TextWorkerOptions) {
    this.#options = options;
  }

  /** Renders and tokenizes. */
  run(job: TextJob): Promise<TextResult> {
    const id = this.#nextId++;
    const worker = this.#alive();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#lose('took too long'), limitMs);
      this.#pending.set(id, { resolve, reject, timer });
      worker.postMessage({ id, job } satisfies ToText);
    });
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#lose('the server is shutting down');
    await worker?.terminate();
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
    this.#worker = worker;
    return worker;
  }

  #settle(answer: FromText): void {
    const pending = this.#pending.get(answer.id);
    if (!pending) return;
    this.#pending.delete(answer.id);
    clearTimeout(pending.timer);
    if ('result' in answer) pending.resolve(answer.result);
    else pending.reject(new EngineWorkerError(answer.error));
  }

  #lose(reason: string): void {
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
    const message = `the prompt could not be prepared: ${reason}`;
    for (const { reject, timer } of this.#pending.values()) {
      clearTimeout(timer);
      reject(new ApiError({ status: 500, code: 'internal_error', message }));
    }
    this.#pending.clear();
  }
}
