import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import {
  type ExportableKind,
  type ExportableObjects,
  exportHandle,
  type OpenOptions,
} from '../../src/index.js';
import { resolveOptions } from '../../src/open-options.js';
import { readSettings } from '../../src/settings.js';

const release = new URL('../../build/Release/', import.meta.url);
const path = (file: string) => fileURLToPath(new URL(file, release));

/** What came of an order: CUDA's number, 0 = it went well; and its result or the error's code. */
export interface Answer {
  readonly number: number;
  readonly result: unknown;
}

/**
 * A thread that calls the addon on order (`test/fixtures/threads/native-worker.cjs`), so that a
 * test decides what two threads do in which order.
 */
export class SecondThread {
  readonly worker: Worker;
  readonly #pending = new Map<number, (answer: Answer) => void>();
  #next = 0;

  /** @param opened as this thread opened the runtime that they share */
  constructor(backend: 'cpu' | 'cuda', opened: OpenOptions) {
    // The same text is the same runtime.
    const options = JSON.stringify(resolveOptions(opened, readSettings()).native);
    const program = new URL('../fixtures/threads/native-worker.cjs', import.meta.url);
    const binary = process.env['CUDA_RUNTIME_BINARY'] ?? path('cuda_runtime.node');
    const manifest = path('test_kernels/manifest.json');
    this.worker = new Worker(program, { workerData: { backend, options, binary, manifest } });
    this.worker.on('message', ({ id, ...answer }) => this.#pending.get(id)?.(answer));
  }

  /** Does one thing there: a function of the addon, or of the fixture. */
  call(method: string, ...args: readonly unknown[]): Promise<Answer> {
    const id = this.#next++;
    this.worker.postMessage({ id, method, args });
    return new Promise((resolve) => this.#pending.set(id, resolve));
  }

  /** The same, for what has to succeed. */
  async get<T = number>(method: string, ...args: readonly unknown[]): Promise<T> {
    const { number, result } = await this.call(method, ...args);
    if (number !== 0) throw new Error(`${method} answered ${number}: ${String(result)}`);
    return result as T;
  }

  /** Its handle of one of our objects. */
  import(object: ExportableObjects[ExportableKind]): Promise<number> {
    return this.get('import', exportHandle(object));
  }

  /** Ends by itself, when nothing holds it any more. */
  async quit(): Promise<number> {
    const exit = once(this.worker, 'exit');
    void this.call('quit');
    return (await exit)[0];
  }

  /** Is ended from outside. */
  async terminate(): Promise<void> {
    await this.worker.terminate();
  }
}
