import { type CapacityLimits, checkCapacity, mostOfTenant } from './check-capacity.js';
import { checkPrompt } from './check-prompt.js';
import { type EngineOptions, type SettledOptions, settleOptions } from './engine-options.js';
import { ClosedError, ParameterError } from './errors/index.js';
import { EventQueue } from './event-queue.js';
import type { GenerationEvent } from './generation-event.js';
import { type GenerationParameters, settleParameters } from './generation-parameters.js';
import type { GraphRunnerReport } from './graph-runner.js';
import type { ModelFacts } from './model.js';
import { LedgerWatch } from './pages/ledger-watch.js';
import { type PageCounts, PagePool } from './pages/page-pool.js';
import { PrefixCache } from './pages/prefix-cache.js';
import type { PrefixCacheCounts } from './pages/prompt-sharing.js';
import { deviceParts } from './parts/device-parts.js';
import type { EngineParts } from './parts/engine-parts.js';
import type { Batch } from './scheduler/batch.js';
import { Scheduler } from './scheduler/scheduler.js';
import type { SchedulerCounts } from './scheduler/scheduler-options.js';
import type { Backlog } from './scheduler/trace/trace-line.js';
import { Sequence } from './sequence.js';
import { nextTurn } from './step/next-turn.js';
import { StepWaiters } from './step/step-waiters.js';
import { type LookAheadReport, StepPipeline } from './step-pipeline.js';
import { StopCondition } from './stop-condition.js';

/** Counters of an engine; they only grow, but for the gauges `waiting`, `running` and pages. */
export interface EngineStats {
  readonly waiting: number;
  readonly running: number;
  /** Prompt tokens of the sequences that wait. */
  readonly waitingTokens: number;
  readonly pages: PageCounts;
  /** Tokens of prompts that were looked up, and found. */
  readonly prefixCache: PrefixCacheCounts;
  /** Checks of the page ledger that failed. */
  readonly ledgerErrors: number;
  readonly scheduling: SchedulerCounts;
  readonly steps: number;
  /** Computed; those found in the prefix cache are `prefixCache.hits`. */
  readonly promptTokens: number;
  readonly generatedTokens: number;
  readonly graphs: GraphRunnerReport;
  readonly lookAhead: LookAheadReport;
}

/** The events of a request, with the number by which it can be given up. */
export interface Generation extends AsyncIterableIterator<GenerationEvent> {
  readonly id: number;
}

/** A request that is under way. */
export interface Submission {
  readonly id: number;
  /** Gives the request up at the next step border. */
  abort(): void;
}

/** How late a deadline may be noticed while nothing is computed. */
const lookAgainMs = 100;

/**
 * Runs a causal model for many requests at once: continuous batching over a page pool, prompts in
 * chunks, decode through captured graphs.
 */
export class Engine {
  readonly #options: SettledOptions<ModelFacts>;
  readonly #limits: CapacityLimits;
  readonly #parts: EngineParts;
  readonly #pool: PagePool;
  readonly #prefixes: PrefixCache;
  readonly #ledger: LedgerWatch;
  readonly #scheduler: Scheduler;
  readonly #steps: StepPipeline;
  /** Those that have not ended. */
  readonly #requests = new Map<number, Submission>();
  #nextId = 1;
  #isClosed = false;
  #backlog: Backlog = 'none';
  #fault: Error | undefined;
  #closing: Promise<void> | undefined;
  #wake: (() => void) | undefined;
  readonly #idlers: (() => void)[] = [];
  readonly #stepWaiters = new StepWaiters();
  readonly #running: Promise<void>;

  /** Starts the step loop on parts that are ready; the engine disposes them when it closes. */
  protected constructor(parts: EngineParts) {
    const { options, pages } = parts;
    const { pageTokens } = options.model;
    this.#options = options;
    this.#parts = parts;
    this.#pool = new PagePool(pages);
    const { maxWaitingTokens = 2 * pages * pageTokens } = options;
    this.#limits = { ...options, pages, maxWaitingTokens };
    const isEnabled = options.prefixCaching;
    const prefixes = new PrefixCache({ pool: this.#pool, pageTokens, isEnabled });
    const scheduler = new Scheduler({ ...options, cache: prefixes });
    this.#prefixes = prefixes;
    this.#scheduler = scheduler;
    this.#ledger = new LedgerWatch({
      check: () => prefixes.check(scheduler.live),
      rebuild: () => prefixes.rebuild(),
      onError: options.onLedgerError,
      now: () => performance.now(),
    });
    const { decode, prefill, ready } = parts;
    const { lookAhead, now, watch } = options;
    const wake = (): void => this.#wake?.();
    const runners = { decode, prefill, ready };
    this.#steps = new StepPipeline({ scheduler, ...runners, lookAhead, now, watch, wake });
    const run = this.#loop().catch((error: unknown) => this.#giveUp(error));
    this.#running = run.then(() => {
      this.#stepWaiters.released(Number.POSITIVE_INFINITY);
      this.#tellIdlers();
    });
  }

  /**
   * Makes the cache, captures the decode graphs and starts the step loop.
   *
   * @throws ParameterError, MemoryError, and what the device throws; nothing stays allocated then
   */
  static async create(given: EngineOptions): Promise<Engine> {
    return new Engine(await deviceParts(settleOptions(given)));
  }

  /**
   * Continues a prompt. Events come as they are made; leaving the loop early gives the request up.
   *
   * @throws ParameterError, CapacityError, ClosedError, before anything is queued
   */
  generate(prompt: ArrayLike<number>, parameters: GenerationParameters = {}): Generation {
    const queue = new EventQueue<GenerationEvent>();
    const submission = this.submit(prompt, parameters, (event) => {
      queue.push(event);
      if (event.type === 'finish') queue.end();
    });
    const events = queue.iterate(() => submission.abort());
    return Object.assign(events, { id: submission.id });
  }

  /**
   * As `generate`, with a callback for each event; for callers that forward events elsewhere. A
   * callback that throws ends its own request, and the error surfaces as an uncaught exception.
   */
  submit(
    prompt: ArrayLike<number>,
    parameters: GenerationParameters,
    emit: (event: GenerationEvent) => void,
  ): Submission {
    if (this.#isClosed) throw new ClosedError(this.#fault);
    const { maxLogitBias, model } = this.#options;
    const settled = settleParameters(parameters, { maxLogitBias, vocabSize: model.vocabSize });
    const ids = checkPrompt(prompt, this.#options);
    const room = this.#options.maxModelLength - ids.length;
    const maxTokens = Math.min(settled.maxTokens ?? room, room);
    this.#checkPriority(settled.priority);
    const nowMs = this.#options.now();
    let forget = (): void => undefined;
    const sequence = new Sequence({
      id: this.#nextId++,
      prompt: ids,
      parameters: settled,
      maxTokens,
      pageTokens: this.#options.model.pageTokens,
      stopCondition: new StopCondition(settled, maxTokens, this.#options.tokenBytes),
      deadlineMs: settled.timeoutMs === undefined ? undefined : nowMs + settled.timeoutMs,
      emit: (event) => {
        if (event.type === 'finish') forget();
        try {
          emit(event);
        } catch (error) {
          sequence.isAborted = true;
          queueMicrotask(() => {
            throw error;
          });
        }
      },
    });
    checkCapacity(sequence, this.#scheduler, this.#limits);
    const abort = (): void => {
      sequence.isAborted = true;
      this.#wake?.();
    };
    const { signal } = parameters;
    if (signal?.aborted) sequence.isAborted = true;
    signal?.addEventListener('abort', abort, { once: true });
    const submission = { id: sequence.id, abort };
    forget = (): void => {
      signal?.removeEventListener('abort', abort);
      this.#requests.delete(sequence.id);
    };
    this.#requests.set(sequence.id, submission);
    this.#scheduler.add(sequence, nowMs);
    this.#wake?.();
    return submission;
  }

  /**
   * Gives a request up at the next step border, wherever it stands; its reader gets the end.
   *
   * @param id of a submission or a generation
   * @returns whether it had not ended; one that has ended, or never was, is left alone
   */
  abort(id: number): boolean {
    const request = this.#requests.get(id);
    request?.abort();
    return request !== undefined;
  }

  /** Counters and gauges, read at any time. */
  stats(): EngineStats {
    return {
      waiting: this.#scheduler.waiting,
      running: this.#scheduler.running,
      waitingTokens: this.#scheduler.waitingTokens,
      pages: this.#pool.counts(),
      prefixCache: this.#prefixes.counts,
      ledgerErrors: this.#ledger.errors,
      scheduling: this.#scheduler.counts,
      ...this.#steps.counts,
      graphs: this.#parts.decode.describe(),
      lookAhead: this.#steps.describe(),
    };
  }

  /**
   * Resolves when no request waits or runs and no step is under way, so that every page that a
   * request held is back. A request's `finish` may come while a step that it is still part of runs
   * on.
   */
  idle(): Promise<void> {
    if (this.#isClosed) return this.#closing ?? this.#running;
    return new Promise((resolve) => {
      this.#idlers.push(resolve);
      this.#wake?.();
    });
  }

  /**
   * Resolves when the step under way is over and the pages of requests that have ended by now are
   * back, while others run on. A request's `finish` may come while a step that it is still part of
   * runs on and holds its pages.
   */
  pagesReleased(): Promise<void> {
    if (this.#isClosed) return this.#closing ?? this.#running;
    const released = this.#stepWaiters.wait(this.#steps.launchedStep);
    this.#wake?.();
    return released;
  }

  /**
   * Forgets the computed pages that no request holds; behind `pagesReleased`, also those of
   * requests that have ended just now.
   *
   * @returns how many those were
   */
  flushPrefixCache(): number {
    return this.#scheduler.flush();
  }

  /**
   * Says how far the reader of the events is behind, until it is told otherwise: no prompt is
   * started while it is `behind`, and nothing is computed while it is `stuck`. Aborts and deadlines
   * still work.
   */
  setBacklog(backlog: Backlog): void {
    this.#backlog = backlog;
    this.#wake?.();
  }

  /** What was chosen: limits, graphs and the model's own report. */
  describe(): Record<string, unknown> {
    const { model, tokenBytes, cache, demand, ...settled } = this.#options;
    const {
      onFault: _,
      onLedgerError: __,
      onTrace: ___,
      now: ____,
      watch: _____,
      ...plain
    } = settled;
    const { maxWaitingTokens } = this.#limits;
    const limits = { ...plain, maxWaitingTokens, maxTenantRequests: mostOfTenant(plain) };
    const modelMaxLength = model.maxPositions;
    const { total: pages } = this.#pool;
    return {
      limits: { ...limits, pages, modelMaxLength, stopStrings: tokenBytes !== undefined },
      cache: { ...cache, bytes: pages * demand.pageBytes },
      decode: this.#parts.decode.describe(),
      lookAhead: this.#steps.describe(),
      prefillWorkspaceBytes: this.#parts.prefill.workspaceBytes,
      model: model.describe(),
    };
  }

  /** Ends every request with reason `abort`, waits for the step under way, and frees the cache. */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async #shutDown(): Promise<void> {
    this.#isClosed = true;
    this.#wake?.();
    await this.#running;
    this.#scheduler.drain((sequence) => sequence.finish('abort'));
    this.#parts.dispose();
  }

  /** What no single request can be blamed for: every request ends with the fault, none is taken. */
  #giveUp(thrown: unknown): void {
    const fault = thrown instanceof Error ? thrown : new Error(String(thrown));
    this.#isClosed = true;
    this.#fault = fault;
    for (const sequence of this.#scheduler.abandon()) sequence.finish('error', { error: fault });
    this.#options.onFault?.(fault);
  }

  /** While there is work: schedule, launch, deliver. */
  async #loop(): Promise<void> {
    while (!this.#isClosed) {
      const startMs = this.#options.now();
      const batch = this.#scheduler.next(startMs, this.#backlog);
      this.#stepWaiters.released(this.#steps.landedStep);
      if (batch) {
        this.#tell(batch, startMs);
        await this.#steps.advance(batch);
      } else if (this.#steps.isFlying) await this.#steps.settle(this.#whyNone());
      else {
        if (this.#scheduler.isIdle) this.#tellIdlers();
        if (this.#scheduler.isSearching) await nextTurn();
        else if (this.#scheduler.running > 0 || !this.#ledger.mendWhenIdle()) await this.#sleep();
        continue;
      }
      if (this.#options.checkLedger) this.#prefixes.check(this.#scheduler.live);
      else this.#ledger.tick();
      // Completions of a quick device are called one behind the other without a turn of the event
      // loop, so that aborts, timers and new requests would wait for the end of all steps.
      await nextTurn();
    }
    await this.#steps.settle();
  }

  #tellIdlers(): void {
    for (const resolve of this.#idlers.splice(0)) resolve();
  }

  #whyNone(): 'pages' | undefined {
    return this.#scheduler.lacksPages ? 'pages' : undefined;
  }

  #tell({ step, decode, prefill }: Batch, startMs: number): void {
    const { watch } = this.#options;
    if (!watch) return;
    for (const { sequence, tokens } of prefill) {
      watch.prefill(sequence.id, tokens);
      sequence.hasStarted = true;
    }
    // One whose prompt another computed begins in a row.
    for (const sequence of decode) {
      if (!sequence.hasStarted) watch.prefill(sequence.id, 0);
      sequence.hasStarted = true;
    }
    const { running, waiting } = this.#scheduler;
    watch.planned({
      step,
      decodeRows: decode.length,
      prefillPieces: prefill.length,
      prefillTokens: prefill.reduce((sum, { tokens }) => sum + tokens, 0),
      running,
      waiting,
      pages: this.#pool.counts(),
      scheduleMs: this.#options.now() - startMs,
    });
  }

  /**
   * Until something comes; what waits behind a backlog has deadlines, so that is looked at again.
   */
  async #sleep(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (!this.#scheduler.isIdle) timer = setTimeout(resolve, lookAgainMs);
    });
    clearTimeout(timer);
    this.#wake = undefined;
  }

  #checkPriority(priority: number): void {
    if (priority === 0 || this.#options.schedulingPolicy === 'priority') return;
    const expected = "0, unless the scheduling policy is 'priority'";
    throw new ParameterError({ parameter: 'priority', expected, received: priority });
  }
}
