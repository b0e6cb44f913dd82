import { type MessagePort, Worker } from 'node:worker_threads';
import { type Grammar, grammarKey } from '../../grammar/grammar.js';
import { workerUrl } from '../../worker-url.js';
import { limitThread } from '../threads/thread-limit.js';
import type {
  FromGrammar,
  GrammarWorkerOptions,
  LostMatcher,
  ToGrammar,
} from './grammar-messages.js';
import { costlyReason } from './mask-budget.js';
import { MatcherHost } from './matcher-host.js';

/** What routes know of the grammar worker. */
export interface GrammarLink {
  /** Resolves when the grammar can be used; else says why it cannot, in words for its author. */
  compile(grammar: Grammar): Promise<GrammarVerdict>;
  close(): Promise<void>;
}

/** Undefined if the grammar is good. */
export type GrammarVerdict = { readonly refusal: string } | undefined;

interface Task {
  readonly id: number;
  readonly key: string;
  readonly grammar: Grammar;
  readonly resolve: (verdict: GrammarVerdict) => void;
  readonly reject: (error: Error) => void;
}

interface Current {
  readonly task: Task;
  /** Ends the watch of its time. */
  stopWatch?: () => void;
  startedMs?: number;
}

const limit = { limitMs: 2000, mostWaitMs: 30_000 };
/** To load the library and to read the vocabulary. */
const startWithinMs = 30_000;
const memoryMb = 512;
const mostRefusals = 256;

/**
 * The main thread's side of the grammar workers, which are started by the first grammar. Here every
 * grammar is tried: one that takes more than two seconds, or that aborts the wasm, costs the worker
 * its life and no one else anything, since outputs are matched in another. One whose outputs turned
 * out to be too slow to follow is refused from then on.
 */
export class GrammarClient implements GrammarLink {
  readonly #options: () => GrammarWorkerOptions;
  readonly #tell: (compileSeconds: number | undefined) => void;
  readonly #matchers: MatcherHost;
  readonly #queue: Task[] = [];
  /** Refused before: to ask again would only cost one more worker. */
  readonly #refusals = new Map<string, string>();
  #current: Current | undefined;
  #worker: Worker | undefined;
  #thread: number | undefined;
  #isReady = false;
  #isClosed = false;
  #startTimer: NodeJS.Timeout | undefined;
  #nextId = 1;

  /**
   * @param options asked when a worker starts
   * @param connect gives the engine its port to a new worker
   * @param tell what each grammar took; undefined = it was known
   */
  constructor(
    options: () => GrammarWorkerOptions,
    connect: (port: MessagePort, lost?: LostMatcher) => void,
    tell: (compileSeconds: number | undefined) => void,
  ) {
    this.#options = options;
    this.#tell = tell;
    const onCostly = (key: string): void => this.#remember(key, costlyReason);
    this.#matchers = new MatcherHost(options, { connect, onCostly });
  }

  compile(grammar: Grammar): Promise<GrammarVerdict> {
    const key = grammarKey(grammar);
    const refusal = this.#refusals.get(key);
    if (refusal !== undefined) {
      this.#tell(undefined);
      return Promise.resolve({ refusal });
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ id: this.#nextId++, key, grammar, resolve, reject });
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const worker = this.#worker;
    this.#worker = undefined;
    clearTimeout(this.#startTimer);
    this.#current?.stopWatch?.();
    const error = new Error('the server is shutting down');
    for (const { reject } of [...(this.#current ? [this.#current.task] : []), ...this.#queue]) {
      reject(error);
    }
    this.#queue.length = 0;
    this.#current = undefined;
    await Promise.all([worker?.terminate(), this.#matchers.close()]);
  }

  #next(): void {
    if (this.#current || this.#isClosed) return;
    const task = this.#queue.shift();
    if (!task) return;
    this.#current = { task };
    this.#worker ??= this.#start();
    this.#matchers.start();
    if (this.#isReady) this.#post();
  }

  /** The clock of a grammar starts when its worker can begin. */
  #post(): void {
    const current = this.#current;
    if (!current) return;
    const { id, grammar } = current.task;
    const tooLong = `it takes more than ${limit.limitMs / 1000} s to compile`;
    current.startedMs = performance.now();
    current.stopWatch = limitThread(this.#thread, limit, () => this.#lose(tooLong));
    this.#worker?.postMessage({ type: 'compile', id, grammar } satisfies ToGrammar);
  }

  #start(): Worker {
    const worker = new Worker(workerUrl('grammar/grammar-worker'), {
      workerData: this.#options(),
      name: 'grammar',
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
    this.#isReady = false;
    this.#startTimer = setTimeout(() => this.#lose('its worker did not start'), startWithinMs);
    this.#startTimer.unref();
    worker.unref();
    worker.on('message', (message: FromGrammar) => {
      if (this.#worker === worker) this.#receive(message);
    });
    worker.on('error', (error) => {
      if (this.#worker === worker) this.#lose(error.message);
    });
    worker.on('exit', () => {
      if (this.#worker === worker) this.#lose('its worker ended');
    });
    return worker;
  }

  #receive(message: FromGrammar): void {
    if (message.type === 'ready') {
      clearTimeout(this.#startTimer);
      this.#isReady = true;
      this.#thread = message.thread;
      this.#post();
    } else if (message.type === 'aborted') {
      this.#lose(message.reason, message.wasFull);
    } else if ('id' in message && message.id === this.#current?.task.id) {
      const isKnown = message.type === 'compiled' && message.isKnown;
      this.#settle(message.type === 'refused' ? message.reason : undefined, isKnown);
    }
  }

  /**
   * The worker is lost, the grammar that it had is refused, and the rest goes on in another. If the
   * worker was full before, that grammar goes on, too.
   */
  #lose(reason: string, wasFull = false): void {
    const worker = this.#worker;
    const wasReady = this.#isReady;
    clearTimeout(this.#startTimer);
    this.#worker = undefined;
    this.#isReady = false;
    void worker?.terminate();
    if (wasReady) {
      this.#worker = this.#isClosed ? undefined : this.#start();
      if (wasFull) this.#current?.stopWatch?.();
      else this.#settle(reason);
    } else {
      this.#current?.task.reject(new Error(`no grammar can be compiled: ${reason}`));
      this.#current = undefined;
      this.#next();
    }
  }

  #settle(refusal: string | undefined, isKnown = false): void {
    const { task, stopWatch, startedMs = 0 } = this.#current ?? {};
    this.#current = undefined;
    stopWatch?.();
    if (task) this.#tell(isKnown ? undefined : (performance.now() - startedMs) / 1000);
    if (task && refusal !== undefined) this.#remember(task.key, refusal);
    task?.resolve(refusal === undefined ? undefined : { refusal });
    this.#next();
  }

  #remember(key: string, refusal: string): void {
    const [oldest] = this.#refusals.keys();
    if (this.#refusals.size >= mostRefusals && oldest !== undefined) this.#refusals.delete(oldest);
    this.#refusals.set(key, refusal);
  }
}
