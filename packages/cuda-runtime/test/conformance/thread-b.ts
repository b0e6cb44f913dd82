import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { exportHandle, type OpenOptions, type Stream } from '../../src/index.js';
import type { Scene } from './scene.js';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** A worker with the same runtime, `second-thread.ts`. */
export class ThreadB {
  readonly #worker: Worker;

  private constructor(worker: Worker) {
    this.#worker = worker;
  }

  /** Starts it; resolves when it has opened the runtime. */
  static async start(options: OpenOptions): Promise<ThreadB> {
    const manifest = path('../../build/Release/test_kernels/manifest.json');
    const workerData = { options, manifest, program: path('second-thread.ts') };
    const worker = new Worker(path('../fixtures/worker.mjs'), { workerData });
    await once(worker, 'message');
    return new ThreadB(worker);
  }

  /** The number or text that a call there answers. */
  async ask(scene: Scene, command: string, ...streams: readonly Stream[]): Promise<string> {
    const answer = once(this.#worker, 'message');
    const tokens = streams.map((stream) => exportHandle(stream));
    this.#worker.postMessage({ command, mode: scene.mode, tokens });
    return String((await answer)[0]);
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}
