import type { EngineStats } from '@altstream/engine';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ChoiceStep } from '../generation/choice.js';
import { RequestClock, type RequestTiming } from '../generation/request-clock.js';
import { serverVersion } from '../version.js';
import { latencyBuckets } from './buckets.js';
import { OutputFaults } from './output-faults.js';
import { TokenRate } from './token-rate.js';

const prefix = 'vllm:';

/** What one request measured; the fields of its log line. */
export interface RequestSummary {
  /** `stop`, `length`, `abort`, or `error`. */
  readonly outcome: string;
  /** Code of the error, if one ended it. */
  readonly code?: string;
  readonly promptTokens: number;
  readonly generatedTokens: number;
  readonly ttftMs: number | null;
  /** Tokens a second after the first of each choice. */
  readonly tokensPerSecond: number | null;
  readonly totalMs: number;
}

/** Follows one request. */
export interface RequestWatch {
  /** @param isFirstOfPrompt false for the further choices of a prompt, which share its tokens */
  step(step: ChoiceStep, isFirstOfPrompt: boolean): void;
  /** @param code of the error that the client was told */
  fail(code: string): void;
  /** What was measured so far. */
  timing(): RequestTiming;
  end(): RequestSummary;
}

/** Prometheus metrics under vLLM's names, so that existing boards work, and a few of our own. */
export class ServerMetrics {
  /** Generated tokens a second. */
  readonly rate = new TokenRate();
  readonly #registry = new Registry();
  readonly #labels: { model_name: string; engine: string };
  readonly #gauges: Record<'running' | 'waiting' | 'cache', Gauge>;
  readonly #tokens: Record<'prompt' | 'generation' | 'queries' | 'hits', Counter>;
  readonly #ledgerErrors: Counter;
  /** The engine's own counters as of the last look; the difference goes into ours. */
  readonly #counted = {
    promptTokens: 0,
    generatedTokens: 0,
    queries: 0,
    hits: 0,
    ledgerErrors: 0,
    preemptions: 0,
  };
  readonly #preemptions: Counter;
  readonly #finished: Counter;
  readonly #latency: Record<'ttft' | 'itl' | 'e2e', Histogram>;
  readonly #http: { readonly count: Counter; readonly seconds: Histogram };
  readonly #pages: Gauge;
  readonly #replays: Gauge;
  readonly #refusedConnections: Counter;
  readonly #outputFaults: OutputFaults;

  constructor(modelName: string) {
    this.#labels = { model_name: modelName, engine: '0' };
    const registers = [this.#registry];
    const labelNames = ['model_name', 'engine'];
    collectDefaultMetrics({ register: this.#registry });
    const gauge = (name: string, help: string): Gauge =>
      new Gauge({ name: prefix + name, help, labelNames, registers });
    const counter = (name: string, help: string, more: string[] = []): Counter =>
      new Counter({ name: prefix + name, help, labelNames: [...labelNames, ...more], registers });
    const histogram = (name: string, help: string, buckets: readonly number[]): Histogram =>
      new Histogram({ name: prefix + name, help, labelNames, buckets: [...buckets], registers });
    this.#gauges = {
      running: gauge('num_requests_running', 'Sequences that hold pages'),
      waiting: gauge('num_requests_waiting', 'Sequences that wait for admission'),
      cache: gauge('kv_cache_usage_perc', 'Share of pages in use, 0 to 1'),
    };
    this.#tokens = {
      queries: counter('prefix_cache_queries_total', 'Prompt tokens looked up'),
      hits: counter('prefix_cache_hits_total', 'Prompt tokens found'),
      prompt: counter('prompt_tokens_total', 'Prompt tokens, computed or found'),
      generation: counter('generation_tokens_total', 'Generated tokens'),
    };
    this.#preemptions = counter('num_preemptions_total', 'Sequences that gave up their pages');
    this.#finished = counter('request_success_total', 'Finished choices', ['finished_reason']);
    this.#latency = {
      ttft: histogram(
        'time_to_first_token_seconds',
        'Accepted to first token',
        latencyBuckets.ttft,
      ),
      itl: histogram(
        'inter_token_latency_seconds',
        'Between tokens of a choice',
        latencyBuckets.itl,
      ),
      e2e: histogram('e2e_request_latency_seconds', 'Accepted to finished', latencyBuckets.e2e),
    };
    this.#http = {
      count: new Counter({
        name: 'http_requests_total',
        help: 'Answered requests by route',
        labelNames: ['handler', 'method', 'status'],
        registers,
      }),
      seconds: new Histogram({
        name: 'http_request_duration_seconds',
        help: 'Time to the end of the answer, by route',
        labelNames: ['handler', 'method'],
        buckets: [...latencyBuckets.ttft],
        registers,
      }),
    };
    this.#pages = new Gauge({
      name: 'altstream_kv_pages',
      help: 'Pages of the KV cache by state',
      labelNames: ['state'],
      registers,
    });
    this.#ledgerErrors = new Counter({
      name: 'altstream_kv_ledger_errors_total',
      help: 'Checks of the page ledger that failed',
      registers,
    });
    this.#refusedConnections = new Counter({
      name: 'altstream_connections_refused_total',
      help: 'Connections above --max-connections',
      registers,
    });
    this.#outputFaults = new OutputFaults(registers);
    this.#replays = new Gauge({
      name: 'altstream_cuda_graph_replays_total',
      help: 'Launches of each captured decode graph',
      labelNames: ['bucket'],
      registers,
    });
    showBuild(registers);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** All metrics as Prometheus text. */
  exposition(): Promise<string> {
    return this.#registry.metrics();
  }

  /** Takes over the engine's gauges and counters. */
  setEngine(stats: EngineStats): void {
    const { running, waiting, pages, graphs } = stats;
    this.#countEngine(stats);
    this.#gauges.running.set(this.#labels, running);
    this.#gauges.waiting.set(this.#labels, waiting);
    const used = pages.total - pages.free - pages.evictable;
    this.#gauges.cache.set(this.#labels, used / pages.total);
    for (const state of ['free', 'evictable', 'pinned', 'reserved'] as const) {
      this.#pages.set({ state }, pages[state]);
    }
    for (const { rows, launches } of graphs.buckets) {
      this.#replays.set({ bucket: String(rows) }, launches);
    }
    this.#replays.set({ bucket: 'eager' }, graphs.eagerSteps);
  }

  /** Adds what the engine's counters grew by since the last look. */
  #countEngine(stats: EngineStats): void {
    const { generatedTokens, ledgerErrors } = stats;
    const { queries, hits } = stats.prefixCache;
    const { preemptions } = stats.scheduling;
    const promptTokens = stats.promptTokens + hits;
    const now = { promptTokens, generatedTokens, queries, hits, ledgerErrors, preemptions };
    const was = this.#counted;
    this.#tokens.prompt.inc(this.#labels, now.promptTokens - was.promptTokens);
    this.#tokens.generation.inc(this.#labels, generatedTokens - was.generatedTokens);
    this.#tokens.queries.inc(this.#labels, queries - was.queries);
    this.#tokens.hits.inc(this.#labels, hits - was.hits);
    this.#ledgerErrors.inc(ledgerErrors - was.ledgerErrors);
    this.#preemptions.inc(this.#labels, preemptions - was.preemptions);
    Object.assign(was, now);
  }

  /** Counts an answered HTTP request; `handler` is a route template, never a raw path. */
  countHttp(handler: string, method: string, status: number, seconds: number): void {
    this.#http.count.inc({ handler, method, status: String(status) });
    this.#http.seconds.observe({ handler, method }, seconds);
  }

  /** Counts a connection above the most that are taken. */
  countRefusedConnection(): void {
    this.#refusedConnections.inc();
  }

  /** Begins to follow a request that was accepted. */
  watchRequest(): RequestWatch {
    const clock = new RequestClock();
    const totals = { promptTokens: 0, generatedTokens: 0 };
    let outcome = 'abort';
    let code: string | undefined;
    return {
      step: ({ index, tokens, finish }, isFirstOfPrompt) => {
        this.rate.add(tokens.length);
        if (tokens.length > 0) this.#observeToken(clock.token(index));
        if (!finish) return;
        this.#outputFaults.count(finish.faults);
        outcome = finish.reason === 'length' ? 'length' : 'stop';
        this.#finished.inc({ ...this.#labels, finished_reason: outcome });
        if (isFirstOfPrompt) totals.promptTokens += finish.counts.promptTokens;
        totals.generatedTokens += finish.counts.completionTokens;
      },
      fail: (given) => {
        outcome = 'error';
        code = given;
      },
      timing: () => clock.timing(),
      end: () => {
        const { ttftMs, tokensPerSecond, totalMs } = clock.timing();
        if (outcome === 'abort' || outcome === 'error') {
          this.#finished.inc({ ...this.#labels, finished_reason: outcome });
        }
        this.#latency.e2e.observe(this.#labels, totalMs / 1000);
        const failure = code === undefined ? {} : { code };
        return { outcome, ...failure, ...totals, ttftMs, tokensPerSecond, totalMs };
      },
    };
  }

  #observeToken({ ttftMs, gapMs }: ReturnType<RequestClock['token']>): void {
    if (ttftMs !== undefined) this.#latency.ttft.observe(this.#labels, ttftMs / 1000);
    if (gapMs !== undefined) this.#latency.itl.observe(this.#labels, gapMs / 1000);
  }
}

function showBuild(registers: Registry[]): void {
  new Gauge({
    name: 'altstream_build_info',
    help: 'Always 1',
    labelNames: ['version'],
    registers,
  }).set({ version: serverVersion }, 1);
}
