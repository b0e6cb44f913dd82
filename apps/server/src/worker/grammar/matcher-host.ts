import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { workerUrl } from '../../worker-url.js';
import { threadClock } from '../threads/thread-time.js';
import type {
  FromGrammar,
  GrammarWorkerOptions,
  LostMatcher,
  ToGrammar,
} from './grammar-messages.js';
import { costlyCode, costlyReason } from './mask-budget.js';
import { MatcherState } from './matcher-state.js';

const memoryMb = 512;
/** How often the worker is looked at. */
const lookEveryMs = 50;

/** What the host tells. */
export interface MatcherHostReports {
  /**
   * The engine's port to a new worker, and the matcher that the one before had in hand at its end.
   */
  readonly connect: (port: MessagePort, lost?: LostMatcher) => void;
  /** Outputs of a grammar take too long to follow. */
  readonly onCostly: (grammarKey: string) => void;
}

/**
 * The worker in which outputs are matched. It sees only grammars that another worker has compiled
 * before. A call into the library that does not come back in time, or ends the worker, costs the
 * matcher that it was made for its request; the others go on in the next worker, with the tokens
 * they had. So do all where the memory was full before the call.
 */
export class MatcherHost {
  readonly #options: () => GrammarWorkerOptions;
  readonly #reports: MatcherHostReports;
  /** Grammars of the matchers that are open. */
  readonly #keys = new Map<number, string>();
  #worker: Worker | undefined;
  #watch: NodeJS.Timeout | undefined;

  constructor(options: () => GrammarWorkerOptions, reports: MatcherHostReports) {
    this.#options = options;
    this.#reports = reports;
  }

  /** Starts the worker, unless it runs. */
  start(lost?: LostMatcher): void {
    if (this.#worker) return;
    const state = new MatcherState();
    const worker = new Worker(workerUrl('grammar/grammar-worker'), {
      workerData: { ...this.#options(), state: state.memory },
      name: 'matcher',
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
    let isReady = false;
    const lose = (message: string, code?: string, wasFull = false): void => {
      if (this.#worker !== worker) return;
      const { matcher } = (wasFull ? undefined : state.work) ?? {};
      const fault = { message, ...(code !== undefined && { code }) };
      this.#lose(isReady, matcher === undefined ? undefined : { matcher, ...fault });
    };
    worker.unref();
    worker.on('message', (message: FromGrammar) => {
      if (message.type === 'ready') {
        isReady = true;
        this.#watch = watchWork(state, message.thread, () => lose(costlyReason, costlyCode));
      } else if (message.type === 'opened') this.#keys.set(message.matcher, message.key);
      else if (message.type === 'closed') this.#keys.delete(message.matcher);
      else if (message.type === 'costly') this.#tellCostly(message.matcher);
      else if (message.type === 'aborted') lose(message.reason, costlyCode, message.wasFull);
    });
    worker.on('error', (error) => lose(error.message, costlyCode));
    worker.on('exit', () => lose('its worker ended'));
    this.#worker = worker;
    const { port1, port2 } = new MessageChannel();
    worker.postMessage({ type: 'connect', port: port1 } satisfies ToGrammar, [port1]);
    this.#reports.connect(port2, lost);
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    clearInterval(this.#watch);
    await worker?.terminate();
  }

  /** One that never was ready would not be the next time; the next grammar tries again. */
  #lose(wasReady: boolean, lost: LostMatcher | undefined): void {
    const worker = this.#worker;
    this.#worker = undefined;
    clearInterval(this.#watch);
    void worker?.terminate();
    if (lost?.code === costlyCode) this.#tellCostly(lost.matcher);
    if (wasReady) this.start(lost);
  }

  #tellCostly(matcher: number): void {
    const key = this.#keys.get(matcher);
    if (key !== undefined) this.#reports.onCostly(key);
  }
}

/** Calls back once when the worker computes at one thing for longer than that may take. */
function watchWork(
  state: MatcherState,
  thread: number | undefined,
  onOver: () => void,
): NodeJS.Timeout {
  // Of a busy machine only the time counts that the thread got.
  const timeOf = threadClock(thread);
  let seen: { readonly turn: number; readonly startMs: number } | undefined;
  const timer = setInterval(() => {
    const { work } = state;
    if (!work) seen = undefined;
    else if (seen?.turn !== work.turn) seen = { turn: work.turn, startMs: timeOf() };
    else if (timeOf() - seen.startMs > work.limitMs) {
      clearInterval(timer);
      onOver();
    }
  }, lookEveryMs);
  return timer.unref();
}
