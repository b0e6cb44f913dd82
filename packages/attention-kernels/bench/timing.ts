// Wall time of enqueued work: several calls between two synchronisations, so that waiting does not
// count; the median and the 95th percentile of the samples.
import type { Stream } from '@altstream/cuda-runtime';

const warmUps = 3;
const samples = 25;
const sampleMs = 5;
const mostPending = 256; // far below what a stream takes

/** Microseconds of a call of `run`, which only enqueues. */
export async function timeCalls(
  stream: Stream,
  run: () => void,
): Promise<{ us: number; p95Us: number }> {
  const time = async (calls: number) => {
    const start = performance.now();
    for (let i = 0; i < calls; i += 1) run();
    await stream.synchronize();
    return ((performance.now() - start) * 1000) / calls;
  };
  await time(warmUps);
  const calls = Math.max(1, Math.min(mostPending, Math.floor((sampleMs * 1000) / (await time(2)))));
  const times: number[] = [];
  for (let i = 0; i < samples; i += 1) times.push(await time(calls));
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.round((samples - 1) * share)] ?? Number.NaN;
  return { us: at(0.5), p95Us: at(0.95) };
}

/** Bytes read plus bytes written in a second by a copy larger than the caches, in TB/s. */
export function copyTBps(): number {
  const from = new Uint8Array(2 ** 26).fill(1);
  const to = new Uint8Array(from.length);
  const seconds = Array.from({ length: 5 }, () => {
    const start = performance.now();
    to.set(from);
    return (performance.now() - start) / 1000;
  });
  return (2 * from.length) / Math.min(...seconds) / 1e12;
}
