import { type Buckets, bucketsOf, quantile } from './histogram.js';
import { byLabel, type Sample, total } from './metrics-text.js';

/** One look at the metrics. */
export interface Look {
  readonly atMs: number;
  readonly samples: readonly Sample[];
}

/** Two quantiles in seconds. */
export interface Spread {
  readonly p50: number | undefined;
  readonly p99: number | undefined;
}

/**
 * What the dashboard shows; undefined where the server does not measure it, or nothing happened.
 */
export interface Readings {
  readonly generatedPerSecond: number | undefined;
  readonly promptPerSecond: number | undefined;
  readonly running: number | undefined;
  readonly waiting: number | undefined;
  readonly cacheShare: number | undefined;
  /** Share of looked-up prompt tokens that were in the prefix cache. */
  readonly hitShare: number | undefined;
  readonly ttft: Spread;
  readonly itl: Spread;
  /** Pages by state. */
  readonly pages: ReadonlyMap<string, number>;
  /** Tokens of the busiest expert by those of the mean one: of all layers, and of the worst. */
  readonly experts: ReadonlyMap<string, number>;
  /** Requests without a place by reason. */
  readonly rejections: ReadonlyMap<string, number>;
  /** Requests that ended early by cause. */
  readonly aborts: ReadonlyMap<string, number>;
  /** Seconds of each phase of the start. */
  readonly start: ReadonlyMap<string, number>;
  /** Steps by decode graph, in rows; `eager` is without one. */
  readonly replays: ReadonlyMap<string, number>;
}

/**
 * Readings of a series of looks: rates from the last two, quantiles over all of them.
 *
 * @param looks oldest first, at least one
 */
export function readingsOf(looks: readonly Look[]): Readings {
  const now = looks.at(-1) ?? { atMs: 0, samples: [] };
  const before = looks.at(-2) ?? now;
  const oldest = looks[0] ?? now;
  const gauge = (name: string): number | undefined => total(now.samples, name);
  const spread = (name: string): Spread => spreadOf(oldest, now, name);
  const hits = growth(oldest, now, 'vllm:prefix_cache_hits_total');
  const queries = growth(oldest, now, 'vllm:prefix_cache_queries_total');
  return {
    generatedPerSecond: rate(before, now, 'vllm:generation_tokens_total'),
    promptPerSecond: rate(before, now, 'vllm:prompt_tokens_total'),
    running: gauge('vllm:num_requests_running'),
    waiting: gauge('vllm:num_requests_waiting'),
    cacheShare: gauge('vllm:kv_cache_usage_perc'),
    hitShare: hits !== undefined && queries ? hits / queries : undefined,
    ttft: spread('vllm:time_to_first_token_seconds'),
    itl: spread('vllm:inter_token_latency_seconds'),
    pages: byLabel(now.samples, 'altstream_kv_pages', 'state'),
    experts: byLabel(now.samples, 'altstream_expert_tokens_max_over_mean', 'layers'),
    rejections: byLabel(now.samples, 'vllm:admission_rejections_total', 'reason'),
    aborts: byLabel(now.samples, 'altstream_aborts_total', 'cause'),
    start: byLabel(now.samples, 'altstream_startup_seconds', 'phase'),
    replays: byLabel(now.samples, 'altstream_cuda_graph_replays_total', 'bucket'),
  };
}

/** Share of decode steps that one graph launch did. */
export function graphShare(replays: ReadonlyMap<string, number>): number | undefined {
  const all = [...replays.values()].reduce((sum, count) => sum + count, 0);
  return all === 0 ? undefined : 1 - (replays.get('eager') ?? 0) / all;
}

function spreadOf(oldest: Look, now: Look, name: string): Spread {
  const buckets = bucketsOf(now.samples, name);
  // A counter that went back belongs to a server that was started anew.
  const known = bucketsOf(oldest.samples, name);
  const before = isRestarted(known, buckets) ? new Map<number, number>() : known;
  return { p50: quantile(before, buckets, 0.5), p99: quantile(before, buckets, 0.99) };
}

function isRestarted(before: Buckets, now: Buckets): boolean {
  const whole = Number.POSITIVE_INFINITY;
  return (now.get(whole) ?? 0) < (before.get(whole) ?? 0);
}

function growth(before: Look, now: Look, name: string): number | undefined {
  const value = total(now.samples, name);
  if (value === undefined) return undefined;
  const grown = value - (total(before.samples, name) ?? 0);
  return grown < 0 ? value : grown;
}

function rate(before: Look, now: Look, name: string): number | undefined {
  const seconds = (now.atMs - before.atMs) / 1000;
  const grown = growth(before, now, name);
  return seconds > 0 && grown !== undefined ? grown / seconds : undefined;
}
