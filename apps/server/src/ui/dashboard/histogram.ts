import { byLabel, type Sample } from './metrics-text.js';

/** Cumulative counts by upper bound. */
export type Buckets = ReadonlyMap<number, number>;

/** Buckets of a histogram; empty when the server has none of this name. */
export function bucketsOf(samples: readonly Sample[], name: string): Buckets {
  const counts = byLabel(samples, `${name}_bucket`, 'le');
  return new Map(
    [...counts]
      .map(([bound, count]) => [bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound), count])
      .sort(([a = 0], [b = 0]) => a - b) as [number, number][],
  );
}

/**
 * A quantile of what was observed between two looks, as Prometheus' `histogram_quantile` has it:
 * linear within a bucket; beyond the last bound, that bound.
 *
 * @returns undefined when nothing was observed
 */
export function quantile(before: Buckets, now: Buckets, share: number): number | undefined {
  const counts = [...now].map(([bound, count]) => ({
    bound,
    count: count - (before.get(bound) ?? 0),
  }));
  const all = counts.at(-1)?.count ?? 0;
  if (all <= 0) return undefined;
  const wanted = share * all;
  const index = counts.findIndex(({ count }) => count >= wanted);
  const bucket = counts[index];
  const below = counts[index - 1] ?? { bound: 0, count: 0 };
  if (!bucket || bucket.bound === Number.POSITIVE_INFINITY) return below.bound;
  const within = (wanted - below.count) / (bucket.count - below.count || 1);
  return below.bound + (bucket.bound - below.bound) * within;
}
