import type { Stream } from '@altstream/cuda-runtime';

/** Microseconds of one call. */
export interface Timing {
  readonly us: number;
  readonly p95Us: number;
}

const samples = 30;
const sampleMs = 4;
/** Far below the number of operations that a stream takes before it pushes back. */
const mostCalls = 256;

/**
 * Median and 95th percentile of `run`, which only enqueues: warm-up, then samples of several calls
 * between two synchronisations, so that a short kernel is not drowned by the wait.
 */
export async function measure(stream: Stream, run: () => void): Promise<Timing> {
  const time = async (calls: number): Promise<number> => {
    const start = performance.now();
    for (let call = 0; call < calls; call += 1) run();
    await stream.synchronize();
    return performance.now() - start;
  };
  await time(3);
  const calls = Math.min(mostCalls, Math.max(1, Math.ceil(sampleMs / ((await time(4)) / 4))));
  const times: number[] = [];
  for (let sample = 0; sample < samples; sample += 1)
    times.push(((await time(calls)) * 1000) / calls);
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(share * (times.length - 1))] ?? Number.NaN;
  return { us: at(0.5), p95Us: at(0.95) };
}
