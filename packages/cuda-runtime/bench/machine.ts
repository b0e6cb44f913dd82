import { execFileSync } from 'node:child_process';
import { cpus, loadavg } from 'node:os';
import type { Runtime } from '../src/index.js';

const before = processorTimes();

/** What else the machine did: load when the run began, cores that others kept busy since. */
export function machineLoad(): { readonly load: number; readonly othersBusy: number } {
  const now = processorTimes();
  const others = now.busyMs - before.busyMs - (now.ownMs - before.ownMs);
  const othersBusy = Math.round(Math.max(0, (100 * others) / (now.atMs - before.atMs))) / 100;
  // `pnpm bench` hands its own load on: the second bench would take the first for a foreign one.
  const given = process.env['ALTSTREAM_BENCH_LOAD'];
  return { load: given === undefined ? before.load : Number(given), othersBusy };
}

/** The GPU's name; of the CPU model, level and the threads that the backend uses. */
export function deviceName(runtime: Runtime): string {
  const { name, limits } = runtime.device();
  if (runtime.backend === 'cuda') return name;
  const { threads } = runtime.describe().details;
  return `${cpus()[0]?.model ?? 'CPU'} ${limits.cpuLevel} x${threads}`;
}

/**
 * Version of the GPU's driver as nvidia-smi tells it; undefined on the CPU and without nvidia-smi.
 */
export function driverVersion(runtime: Runtime): string | undefined {
  if (runtime.backend !== 'cuda') return undefined;
  const query = ['--query-gpu=driver_version', '--format=csv,noheader'];
  return output('nvidia-smi', query)?.split('\n')[0];
}

/**
 * With a plus if sources differ from it. A bundle has no sources under git and hands its commit on.
 */
export function commit(): string {
  const given = process.env['ALTSTREAM_COMMIT'];
  if (given) return given;
  const sources = ['src', 'native', ':(glob)bench/*.ts'];
  const changed = output('git', ['status', '--porcelain', '-uno', '--', ...sources]);
  const head = output('git', ['rev-parse', '--short', 'HEAD']);
  return head === undefined ? 'unknown' : `${head}${changed === '' ? '' : '+'}`;
}

function output(command: string, args: readonly string[]): string | undefined {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return undefined; // not there
  }
}

function processorTimes() {
  const { user, system } = process.cpuUsage();
  const busyMs = cpus().reduce(
    (sum, { times }) => sum + times.user + times.nice + times.sys + times.irq,
    0,
  );
  const load = Math.round(100 * (loadavg()[0] ?? 0)) / 100;
  return { load, busyMs, ownMs: (user + system) / 1000, atMs: performance.now() };
}
