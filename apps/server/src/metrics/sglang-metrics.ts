import type { Registry } from 'prom-client';
import type { EngineInfo, WorkerStats } from '../worker/messages.js';
import { latencyBuckets } from './buckets.js';
import { MetricMaker, type Total, type Value } from './metric-maker.js';
import { QuickHistogram } from './quick-histogram.js';

/** The classic spelling, and the one that sglang's own board queries. */
const prefixes = ['sglang:', 'sglang_'];

/** The same facts under sglang's names, for boards and routers that know those. */
export class SglangMetrics {
  readonly #registry: Registry;
  readonly #makers: readonly MetricMaker[];
  readonly #labels: Readonly<Record<string, string>>;
  readonly #gauges;
  readonly #totals;
  readonly #requests;
  readonly #aborted;
  readonly #cacheConfig;
  readonly #times;
  #pageTokens = 0;
  #seen = { queries: 0, hits: 0 };

  constructor(registry: Registry, modelName: string) {
    this.#registry = registry;
    this.#labels = { model_name: modelName };
    this.#makers = prefixes.map((prefix) => new MetricMaker(registry, prefix, this.#labels));
    this.#gauges = {
      running: this.#gauge('num_running_reqs', 'Sequences that hold pages'),
      queued: this.#gauge('num_queue_reqs', 'Sequences that wait'),
      usedTokens: this.#gauge('num_used_tokens', 'Tokens of pages in use'),
      usage: this.#gauge('token_usage', 'Share of pages in use, 0 to 1'),
      throughput: this.#gauge('gen_throughput', 'Generated tokens a second, of late'),
      hitRate: this.#gauge('cache_hit_rate', 'Share of prompt tokens found since the last look'),
      mostTokens: this.#gauge('max_total_num_tokens', 'Tokens of all pages'),
    };
    this.#totals = {
      retracted: this.#total('num_retracted_requests_total', 'Sequences that gave up their pages'),
      prompt: this.#total('prompt_tokens_total', 'Prompt tokens, computed or found'),
      generation: this.#total('generation_tokens_total', 'Generated tokens'),
      cached: this.#total('cached_tokens_total', 'Prompt tokens found in the prefix cache'),
    };
    this.#requests = this.#total('num_requests_total', 'Requests that got their answer');
    this.#aborted = this.#total('num_aborted_requests_total', 'Requests that ended before that');
    this.#cacheConfig = this.#gauge('cache_config_info', 'Always 1; labels tell the cache', [
      ...['page_size', 'num_pages'],
    ]);
    const { ttft, itl, e2e } = latencyBuckets.sglang;
    this.#times = {
      ttft: this.#histogram('time_to_first_token_seconds', 'Accepted to first token', ttft),
      itl: this.#histogram('inter_token_latency_seconds', 'Between tokens of a choice', itl),
      e2e: this.#histogram('e2e_request_latency_seconds', 'Accepted to finished', e2e),
      queue: this.#histogram('queue_time_seconds', 'Accepted to first computed', e2e),
    };
  }

  /** What is settled when the engine is ready. */
  setInfo({ pageTokens, pages }: EngineInfo): void {
    this.#pageTokens = pageTokens;
    this.#cacheConfig.set(1, { page_size: String(pageTokens), num_pages: String(pages) });
  }

  /** Takes over the engine's gauges and counters. */
  setStats(stats: WorkerStats, tokensPerSecond: number): void {
    const { pages, prefixCache, running, waiting } = stats;
    this.#gauges.running.set(running);
    this.#gauges.queued.set(waiting);
    this.#gauges.usedTokens.set(pages.pinned * this.#pageTokens);
    this.#gauges.mostTokens.set(pages.total * this.#pageTokens);
    this.#gauges.usage.set(pages.pinned / pages.total);
    this.#gauges.throughput.set(tokensPerSecond);
    const { queries, hits } = prefixCache;
    const asked = queries - this.#seen.queries;
    if (asked > 0) this.#gauges.hitRate.set((hits - this.#seen.hits) / asked);
    this.#seen = { queries, hits };
    this.#totals.retracted.to(stats.scheduling.preemptions);
    this.#totals.prompt.to(stats.promptTokens + hits);
    this.#totals.generation.to(stats.generatedTokens);
    this.#totals.cached.to(hits);
  }

  /** A time of a request, in milliseconds; null = there was none. */
  observe(what: 'ttft' | 'itl' | 'e2e' | 'queue', ms: number | null | undefined): void {
    if (ms !== null && ms !== undefined) this.#times[what].observe(ms / 1000);
  }

  /** Takes how many requests ended so far, with their answer and before it. */
  setRequests(answered: number, aborted: number): void {
    this.#requests.to(answered);
    this.#aborted.to(aborted);
  }

  #gauge(name: string, help: string, more: readonly string[] = []): Pick<Value, 'set'> {
    const gauges = this.#makers.map((make) => make.gauge(name, help, more));
    return {
      set: (value, labels) => {
        for (const gauge of gauges) gauge.set(value, labels);
      },
    };
  }

  #total(name: string, help: string): Total {
    const totals = this.#makers.map((make) => make.total(name, help));
    return {
      to: (value) => {
        for (const total of totals) total.to(value);
      },
    };
  }

  #histogram(name: string, help: string, buckets: readonly number[]): QuickHistogram {
    const histogram = new QuickHistogram({ name, help, buckets, labels: this.#labels });
    for (const prefix of prefixes) histogram.showIn(this.#registry, { name: prefix + name });
    return histogram;
  }
}
