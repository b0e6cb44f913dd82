import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import type { Runtime } from '../../src/index.js';

/** The process at a quiet moment: no worker, everything collected. */
export interface Sample {
  readonly seconds: number;
  readonly operations: number;
  readonly rssMiB: number;
  readonly heapMiB: number;
  /** Device memory: of the CPU backend what it holds, of a GPU what the driver says is in use. */
  readonly deviceMiB: number;
  readonly threads: number;
  readonly files: number;
}

const mib = 2 ** 20;

/** Takes one. */
export function takeSample(runtime: Runtime, seconds: number, operations: number): Sample {
  const { rss, heapUsed } = process.memoryUsage();
  return {
    seconds: round(seconds),
    operations,
    rssMiB: round(rss / mib),
    heapMiB: round(heapUsed / mib),
    deviceMiB: round(deviceBytes(runtime) / mib),
    threads: readdirSync('/proc/self/task').length,
    files: readdirSync('/proc/self/fd').length,
  };
}

function deviceBytes(runtime: Runtime): number {
  const { bytesInUse, bytesCached = 0 } = runtime.stats();
  if (runtime.backend === 'cpu') return bytesInUse + bytesCached;
  const query = ['-i', '0', '--query-gpu=memory.used', '--format=csv,noheader,nounits'];
  return Number(execFileSync('nvidia-smi', query, { encoding: 'utf8' }).trim()) * mib;
}

/** A straight line through the samples by least squares: what it gains from first to last. */
export function growth(
  samples: readonly Sample[],
  of: 'rssMiB' | 'heapMiB' | 'deviceMiB' | 'threads' | 'files',
): number {
  const points = samples.map((sample) => ({ x: sample.operations, y: sample[of] }));
  const mean = (list: readonly number[]) => list.reduce((sum, one) => sum + one, 0) / list.length;
  const [mx, my] = [mean(points.map(({ x }) => x)), mean(points.map(({ y }) => y))];
  const variance = mean(points.map(({ x }) => (x - mx) ** 2));
  const covariance = mean(points.map(({ x, y }) => (x - mx) * (y - my)));
  const span = (points.at(-1)?.x ?? 0) - (points[0]?.x ?? 0);
  return variance === 0 ? 0 : round((covariance / variance) * span);
}

function round(value: number): number {
  return Math.round(100 * value) / 100;
}
