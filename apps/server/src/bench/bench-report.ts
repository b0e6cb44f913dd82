import type { RequestRecord } from './bench-request.js';
import { deviationOf, meanOf, percentileOf, sumOf } from './statistics.js';

/**
 * The metrics that are summarised; `queued_ttft` counts from the arrival, the others from the
 * sending.
 */
export const metricNames = ['ttft', 'queued_ttft', 'tpot', 'itl', 'e2el'] as const;
/** One of them. */
export type MetricName = (typeof metricNames)[number];

/** What a report should have. */
export interface ReportOptions {
  readonly percentiles: readonly number[];
  readonly percentileMetrics: ReadonlySet<MetricName>;
  /** Most milliseconds of each metric for a request that counts as good. */
  readonly goodput: ReadonlyMap<'ttft' | 'tpot' | 'e2el', number>;
  /** Adds the lists of every request, as vLLM's `--save-detailed`. */
  readonly isDetailed: boolean;
}

/** Names and units are those of vLLM's and sglang's result files. */
export type BenchReport = Readonly<Record<string, unknown>>;

/** More failures than this share, and throughput says nothing. */
const mostFailures = 0.01;

/** Everything that is computed of the records of a run. */
export function benchReport(
  records: readonly RequestRecord[],
  options: ReportOptions,
): BenchReport {
  const good = records.filter(({ error }) => error === undefined);
  const failed = records.length - good.length;
  const duration = durationOf(records);
  const output = sumOf(good.map(({ outputTokens = 0 }) => outputTokens));
  const inputs = good.map(({ inputTokens }) => inputTokens);
  const input = inputs.includes(undefined) ? null : sumOf(inputs as number[]);
  const isTelling = good.length > 0 && failed <= mostFailures * records.length;
  const perSecond = (count: number | null): number | null =>
    isTelling && count !== null ? count / duration : null;
  const deltas = sumOf(good.map(({ deltasAt }) => deltasAt.length));
  return {
    duration,
    completed: good.length,
    failed,
    errors: countErrors(records),
    total_input_tokens: input,
    total_cached_tokens: cachedOf(good),
    total_output_tokens: output,
    ...retokenizedOf(good, perSecond),
    request_throughput: perSecond(good.length),
    request_goodput: options.goodput.size === 0 ? null : perSecond(countGood(good, options)),
    input_throughput: perSecond(input),
    output_throughput: perSecond(output),
    total_token_throughput: perSecond(input === null ? null : input + output),
    concurrency: perSecond(sumOf(valuesOf('e2el', good)) / 1000),
    max_concurrent_requests: mostAtOnce(records),
    max_output_tokens_per_s: isTelling ? peakTokens(good) : null,
    tokens_per_chunk: deltas === 0 ? null : output / deltas,
    empty_answers: good.filter(({ deltasAt }) => deltasAt.length === 0).length,
    ...Object.assign({}, ...metricNames.map((name) => summary(name, good, options))),
    ...turnsOf(good),
    ...(options.isDetailed ? details(records) : {}),
  };
}

/** First send to last end, in seconds. */
function durationOf(records: readonly RequestRecord[]): number {
  const first = records.reduce((least, { sentAt }) => Math.min(least, sentAt), Infinity);
  const last = records.reduce((most, { endedAt }) => Math.max(most, endedAt), -Infinity);
  return records.length === 0 ? 0 : (last - first) / 1000;
}

function countErrors(records: readonly RequestRecord[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { error } of records) if (error) counts.set(error, (counts.get(error) ?? 0) + 1);
  return Object.fromEntries(counts);
}

function retokenizedOf(
  good: readonly RequestRecord[],
  perSecond: (count: number | null) => number | null,
): BenchReport {
  if (good.length === 0 || good.some(({ retokenized }) => retokenized === undefined)) return {};
  const total = sumOf(good.map(({ retokenized = 0 }) => retokenized));
  return {
    total_output_tokens_retokenized: total,
    output_throughput_retokenized: perSecond(total),
  };
}

/** Null where a server does not say. */
function cachedOf(good: readonly RequestRecord[]): number | null {
  const known = good.flatMap(({ cachedTokens }) =>
    cachedTokens === undefined ? [] : [cachedTokens],
  );
  return known.length < good.length ? null : sumOf(known);
}

/**
 * Later requests of dialogues find what those before them left, so their first tokens come sooner.
 */
function turnsOf(good: readonly RequestRecord[]): BenchReport {
  const most = good.reduce((sum, { turn = 1 }) => Math.max(sum, turn), 1);
  if (most === 1) return {};
  const means = Array.from({ length: most }, (_, index) => {
    const values = valuesOf(
      'ttft',
      good.filter(({ turn }) => turn === index + 1),
    );
    return values.length === 0 ? null : meanOf(values);
  });
  return { mean_ttft_ms_by_turn: means };
}

/** Milliseconds; undefined where a request has no such time. */
function timesOf({ arrivedAt, sentAt, deltasAt, outputTokens = 0 }: RequestRecord): {
  readonly ttft: number | undefined;
  readonly queued_ttft: number | undefined;
  readonly tpot: number | undefined;
  readonly e2el: number | undefined;
} {
  const first = deltasAt[0];
  const last = deltasAt.at(-1);
  if (first === undefined || last === undefined) {
    return { ttft: undefined, queued_ttft: undefined, tpot: undefined, e2el: undefined };
  }
  return {
    ttft: first - sentAt,
    queued_ttft: first - arrivedAt,
    tpot: outputTokens > 1 ? (last - first) / (outputTokens - 1) : undefined,
    e2el: last - sentAt,
  };
}

/** All values of a metric, in milliseconds: one a request, or one a gap. */
export function valuesOf(name: MetricName, good: readonly RequestRecord[]): number[] {
  if (name === 'itl') return good.flatMap(gapsOf);
  return good.map((record) => timesOf(record)[name]).filter((value) => value !== undefined);
}

function gapsOf({ deltasAt }: RequestRecord): number[] {
  return deltasAt.slice(1).map((at, index) => at - (deltasAt[index] ?? at));
}

function summary(
  name: MetricName,
  good: readonly RequestRecord[],
  { percentiles, percentileMetrics }: ReportOptions,
): BenchReport {
  const values = valuesOf(name, good).sort((a, b) => a - b);
  const shown = (value: number): number | null => (Number.isFinite(value) ? value : null);
  const wanted = percentileMetrics.has(name) ? percentiles : [];
  return {
    [`mean_${name}_ms`]: shown(meanOf(values)),
    [`median_${name}_ms`]: shown(percentileOf(values, 50)),
    [`std_${name}_ms`]: shown(deviationOf(values)),
    [`max_${name}_ms`]: shown(values.at(-1) ?? Number.NaN),
    ...Object.fromEntries(
      wanted.map((percent) => [`p${percent}_${name}_ms`, shown(percentileOf(values, percent))]),
    ),
  };
}

/** A request with one token has no time between tokens, so that it cannot be too slow there. */
function countGood(good: readonly RequestRecord[], { goodput }: ReportOptions): number {
  return good.filter((record) => {
    const times = timesOf(record);
    if (times.ttft === undefined) return false;
    return [...goodput].every(([name, most]) => (times[name] ?? 0) <= most);
  }).length;
}

/** Requests between their sending and their end, at the fullest moment. */
function mostAtOnce(records: readonly RequestRecord[]): number {
  const changes = records.flatMap(({ sentAt, endedAt }) => [
    { at: sentAt, by: 1 },
    { at: endedAt, by: -1 },
  ]);
  changes.sort((a, b) => a.at - b.at || a.by - b.by);
  let now = 0;
  return changes.reduce((most, { by }) => {
    now += by;
    return Math.max(most, now);
  }, 0);
}

/**
 * Most tokens in one second, counted from the first send; tokens of an answer lie evenly in its
 * chunks.
 */
function peakTokens(good: readonly RequestRecord[]): number {
  const started = good.reduce((least, { sentAt }) => Math.min(least, sentAt), Infinity);
  const seconds = new Map<number, number>();
  for (const { deltasAt, outputTokens = 0 } of good) {
    for (const at of deltasAt) {
      const second = Math.floor((at - started) / 1000);
      seconds.set(second, (seconds.get(second) ?? 0) + outputTokens / deltasAt.length);
    }
  }
  return Math.max(0, ...seconds.values());
}

/** vLLM's lists: seconds, one entry a request. */
function details(records: readonly RequestRecord[]): BenchReport {
  const started = records.reduce((least, { sentAt }) => Math.min(least, sentAt), Infinity);
  return {
    input_lens: records.map(({ inputTokens }) => inputTokens ?? null),
    output_lens: records.map(({ outputTokens }) => outputTokens ?? null),
    ttfts: records.map((record) => secondsOf(timesOf(record).ttft)),
    e2els: records.map((record) => secondsOf(timesOf(record).e2el)),
    itls: records.map((record) => gapsOf(record).map(secondsOf)),
    start_times: records.map(({ sentAt }) => secondsOf(sentAt - started)),
    request_errors: records.map(({ error }) => error ?? ''),
  };
}

function secondsOf(ms: number | undefined): number | null {
  return ms === undefined ? null : ms / 1000;
}
