import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { workerUrl } from '../../worker-url.js';
import type { FromGrammar, GrammarWorkerOptions, ToGrammar } from './grammar-messages.js';

const memoryMb = 512;

/**
 * The worker in which outputs are matched. It sees only grammars that another worker has compiled
 * before, so that a bad one costs no answer anything; should it die nevertheless, the next one goes on.
 */
export class MatcherHost {
  readonly #options: () => GrammarWorkerOptions;
  readonly #connect: (port: MessagePort) => void;
  #worker: Worker | undefined;

  /** @param connect gives the engine its port to a new worker */
  constructor(options: () => GrammarWorkerOptions, connect: (port: MessagePort) => void) {
    this.#options = options;
    this.#connect = connect;
  }

  /** Starts the worker, unless it runs. */
  start(): void {
    if (this.#worker) return;
    const worker = new Worker(workerUrl('grammar/grammar-worker'), {
      workerData: this.#options(),
      name: 'matcher',
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
    const restart = (): void => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      void worker.terminate();
      this.start();
    };
    worker.unref();
    worker.on('message', (message: FromGrammar) => {
      if (message.type === 'aborted') restart();
    });
    worker.on('error', restart);
    worker.on('exit', restart);
    this.#worker = worker;
    const { port1, port2 } = new MessageChannel();
    worker.postMessage({ type: 'connect', port: port1 } satisfies ToGrammar, [port1]);
    this.#connect(port2);
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }
}
