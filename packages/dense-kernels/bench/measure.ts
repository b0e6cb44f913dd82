// Times an operation on a stream: warm-up, then samples of several calls between two
// synchronisations, so that a short kernel is not drowned by the wait.
import type { Stream } from '@altstream/cuda-runtime';

/** Microseconds of one call. */
export interface Timing {
  readonly us: number;
  readonly p95Us: number;
}

const samples = 30;
const sampleMs = 4;
const mostCalls = 500; // below the stream's limit of pending work

/** Median and 95th percentile of `run`, which only enqueues. */
export async function measure(stream: Stream, run: () => void): Promise<Timing> {
  const calls = await callsPerSample(stream, run);
  const times: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    times.push(((await milliseconds(stream, run, calls)) * 1000) / calls);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(share * (times.length - 1))] ?? Number.NaN;
  return { us: at(0.5), p95Us: at(0.95) };
}

async function callsPerSample(stream: Stream, run: () => void): Promise<number> {
  await milliseconds(stream, run, 3);
  const once = (await milliseconds(stream, run, 10)) / 10;
  return Math.min(mostCalls, Math.max(1, Math.ceil(sampleMs / once)));
}

async function milliseconds(stream: Stream, run: () => void, calls: number): Promise<number> {
  const start = performance.now();
  for (let call = 0; call < calls; call += 1) run();
  await stream.synchronize();
  return performance.now() - start;
}
