import { collectDefaultMetrics, Registry } from 'prom-client';
import { serverVersion } from '../version.js';
import type { EngineInfo, WorkerStats } from '../worker/messages.js';
import type { StepTimes } from '../worker/steps/step-log.js';
import { latencyBuckets } from './buckets.js';
import { EngineMetrics } from './engine-metrics.js';
import { MetricMaker } from './metric-maker.js';
import { PreparationMetrics } from './preparation-metrics.js';
import { RequestMetrics, type RequestWatch } from './request-metrics.js';
import { SglangMetrics } from './sglang-metrics.js';
import { StartMetrics } from './start-metrics.js';
import { TextMetrics } from './text-metrics.js';
import { ThreadMetrics } from './thread-metrics.js';
import type { TokenRate } from './token-rate.js';
import { TraceMetrics } from './trace-metrics.js';

/** What the metrics depend on. */
export interface MetricsOptions {
  /** A server whose names are there, too. */
  readonly alias?: 'sglang' | undefined;
  /** Most text workers. */
  readonly textWorkers?: number;
}

/** Prometheus metrics under vLLM's names, so that existing boards work, and a few of our own. */
export class ServerMetrics {
  readonly requests: RequestMetrics;
  readonly preparation: PreparationMetrics;
  readonly start: StartMetrics;
  readonly text: TextMetrics;
  readonly threads: ThreadMetrics;
  readonly traces: TraceMetrics;
  readonly #registry = new Registry();
  readonly #engine: EngineMetrics;
  readonly #sglang: SglangMetrics | undefined;
  readonly #build;
  readonly #heartbeat;
  readonly #refusedConnections;
  readonly #ignoredFields;
  readonly #lateEvents;
  readonly #http;

  /** @param modelName first of the served names, as configured */
  constructor(modelName: string, { alias, textWorkers = 1 }: MetricsOptions = {}) {
    collectDefaultMetrics({ register: this.#registry });
    const vllm = new MetricMaker(this.#registry, 'vllm:', { model_name: modelName, engine: '0' });
    const own = new MetricMaker(this.#registry, 'altstream_');
    const http = new MetricMaker(this.#registry, 'http_');
    this.#sglang = alias && new SglangMetrics(this.#registry, modelName);
    this.requests = new RequestMetrics(vllm, own, this.#sglang);
    this.preparation = new PreparationMetrics(own);
    this.start = new StartMetrics(own);
    this.text = new TextMetrics(own, textWorkers);
    this.threads = new ThreadMetrics(own);
    this.traces = new TraceMetrics(own);
    this.#engine = new EngineMetrics(vllm, own);
    const adapters = ['max_lora', 'waiting_lora_adapters', 'running_lora_adapters'];
    const none = { max_lora: '0', waiting_lora_adapters: '', running_lora_adapters: '' };
    new MetricMaker(this.#registry, 'vllm:')
      .gauge('lora_requests_info', 'There are no adapters; some routers want the name', adapters)
      .set(Math.floor(Date.now() / 1000), none);
    this.#http = {
      count: http.counter('requests_total', 'Answered requests by route', {
        handler: [],
        method: [],
        status: [],
      }),
      seconds: http.histogram(
        'request_duration_seconds',
        'Time to the end of the answer, by route',
        latencyBuckets.ttft,
        ['handler', 'method'],
      ),
    };
    this.#refusedConnections = own.counter(
      'connections_refused_total',
      'Connections above --max-connections',
    );
    this.#ignoredFields = own.counter(
      'server_ignored_fields_total',
      'Fields of requests that had no effect; those that no server has are other',
      { field: ['other'] },
    );
    this.#lateEvents = own.counter(
      'late_events_total',
      'Tokens that came after their request was given up; events that nobody waits for',
      { request: ['given_up', 'unknown'] },
    );
    this.#heartbeat = own.gauge(
      'engine_heartbeat_age_seconds',
      'Since the thread of the engine made progress or was idle',
    );
    this.#build = own.fact('build_info', 'Always 1; labels tell what was built and found', [
      ...['version', 'cuda', 'arch'],
    ]);
    this.#build.tell({ version: serverVersion, cuda: '', arch: process.arch });
  }

  /** Generated tokens a second. */
  get rate(): TokenRate {
    return this.requests.rate;
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** All metrics as Prometheus text. */
  exposition(): Promise<string> {
    return this.#registry.metrics();
  }

  /** What is settled when the engine is ready. */
  setInfo(info: EngineInfo): void {
    this.requests.setLongest(info.maxModelLength);
    this.#engine.setInfo(info);
    this.#build.tell({ version: serverVersion, ...builtFor(info.report) });
    this.#sglang?.setInfo(info);
  }

  /** Takes over the engine's gauges and counters. */
  setEngine(stats: WorkerStats, heartbeatAge = 0): void {
    this.requests.setQueued(stats.waiting);
    this.#engine.setStats(stats);
    this.#sglang?.setStats(stats, this.rate.perSecond);
    this.threads.setEngine(stats.thread);
    this.#heartbeat.set(heartbeatAge);
  }

  /** Takes what steps were. */
  addSteps(steps: StepTimes): void {
    this.#engine.addSteps(steps);
  }

  /** Counts an answered HTTP request; `handler` is a route template, never a raw path. */
  countHttp(handler: string, method: string, status: number, seconds: number): void {
    this.#http.count.add(1, { handler, method, status: String(status) });
    this.#http.seconds.observe(seconds, { handler, method });
  }

  /** Counts a connection above the most that are taken. */
  countRefusedConnection(): void {
    this.#refusedConnections.add(1);
  }

  /** Counts fields of a request that nobody reads, by labels of a closed set. */
  countIgnored(labels: readonly string[]): void {
    for (const field of new Set(labels)) this.#ignoredFields.add(1, { field });
  }

  /** Counts an event that came too late for its request. */
  countLateEvent(request: 'given_up' | 'unknown'): void {
    this.#lateEvents.add(1, { request });
  }

  /** Begins to follow a request that was accepted. */
  watchRequest(): RequestWatch {
    return this.requests.watch();
  }
}

/** Version of CUDA, empty without it, and the architecture that kernels are for. */
function builtFor({ runtime, device }: EngineInfo['report']): { cuda: string; arch: string } {
  const { details } = (runtime ?? {}) as {
    readonly details?: { readonly runtimeVersion?: number };
  };
  const { sm } = (device ?? {}) as { readonly sm?: string };
  const version = details?.runtimeVersion;
  // As CUDA counts: 13000 is 13.0.
  const cuda =
    version === undefined
      ? ''
      : `${Math.floor(version / 1000)}.${Math.floor((version % 1000) / 10)}`;
  return { cuda, arch: sm ? `sm_${sm.replace('.', '')}` : process.arch };
}
