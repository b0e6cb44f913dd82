/** Microseconds of one item. */
export interface Timing {
  /** Median. */
  readonly us: number;
  readonly p95Us: number;
}

/** Microseconds an item, median and 95th percentile over `runs` runs of `items` items each. */
export async function measure(
  runs: number,
  items: number,
  run: () => Promise<number> | number,
): Promise<Timing> {
  const samples: number[] = [];
  for (let index = 0; index < runs; index += 1) samples.push(((await run()) * 1000) / items);
  samples.sort((a, b) => a - b);
  const at = (share: number) => samples[Math.floor((samples.length - 1) * share)] ?? Number.NaN;
  return { us: at(0.5), p95Us: at(0.95) };
}

/** Milliseconds that a synchronous piece of work takes. */
export function milliseconds(work: () => void): number {
  const begin = performance.now();
  work();
  return performance.now() - begin;
}

/** Milliseconds until what `work` returns is settled. */
export async function asyncMilliseconds(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}
