import type { Stream } from '@altstream/cuda-runtime';

/** Microseconds of one call. */
export interface Timing {
  readonly us: number;
  readonly p95Us: number;
}

/** A case takes about half a second, so that all benches together stay within minutes. */
const budgetMs = 500;
const sampleMs = 4;
const [fewestSamples, mostSamples] = [7, 30];
/** Far below the number of operations that a stream takes before it pushes back. */
const mostCalls = 256;

/**
 * Median and 95th percentile of `run`, which only enqueues: warm-up, then samples of several calls
 * between two synchronisations, so that a short kernel is not drowned by the wait. A `run` that
 * returns a promise waits itself, and is one sample a call.
 */
export async function measure(stream: Stream, run: () => unknown): Promise<Timing> {
  const first = run();
  const waits = first instanceof Promise;
  await first;
  const time = async (calls: number): Promise<number> => {
    const start = performance.now();
    for (let call = 0; call < calls; call += 1) {
      const pending = run();
      if (waits) await pending;
    }
    await stream.synchronize();
    return (performance.now() - start) / calls;
  };
  await stream.synchronize();
  const warm = await time(1);
  const once = warm > sampleMs ? warm : await time(4);
  const calls = waits ? 1 : Math.min(mostCalls, Math.max(1, Math.ceil(sampleMs / once)));
  const wanted = Math.floor(budgetMs / (calls * once));
  const samples = Math.min(mostSamples, Math.max(fewestSamples, wanted));
  const times: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) times.push((await time(calls)) * 1000);
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(share * (times.length - 1))] ?? Number.NaN;
  return { us: at(0.5), p95Us: at(0.95) };
}
