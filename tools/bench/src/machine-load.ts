import { cpus, loadavg } from 'node:os';

/** What else the machine did during a run. */
export interface MachineLoad {
  /** One minute's load average at the start. */
  readonly load: number;
  /** Cores that other processes kept busy meanwhile. */
  readonly othersBusy: number;
}

/** `pnpm bench` sets it: the second bench would otherwise take the first one for foreign load. */
const inherited = 'ALTSTREAM_BENCH_LOAD';

/** Load average when the run began, of `pnpm bench` if that started this process. */
export function startLoad(): number {
  const given = process.env[inherited];
  return round(given === undefined ? (loadavg()[0] ?? 0) : Number(given));
}

/** The environment of a bench that `pnpm bench` starts. */
export function withStartLoad(load: number): NodeJS.ProcessEnv {
  return { ...process.env, [inherited]: String(load) };
}

/** Watches the machine from now on; the returned function tells what it saw. */
export function watchMachine(): () => MachineLoad {
  const load = startLoad();
  const before = reading();
  return () => {
    return { load, othersBusy: round(othersBusy(before, reading())) };
  };
}

/** Milliseconds of processor time at a moment. */
export interface ProcessorTimes {
  /** Of all processes. */
  readonly busyMs: number;
  /** Of this one. */
  readonly ownMs: number;
  readonly atMs: number;
}

/** Cores that processes other than this one kept busy between two moments. */
export function othersBusy(before: ProcessorTimes, after: ProcessorTimes): number {
  const others = after.busyMs - before.busyMs - (after.ownMs - before.ownMs);
  return Math.max(0, others / (after.atMs - before.atMs));
}

/** Why times of this run may be too long; undefined on a quiet machine. */
export function loadWarning(machine: Partial<MachineLoad>): string | undefined {
  const { load = 0, othersBusy: others = 0 } = machine;
  const cores = cpus().length;
  const reasons = [
    ...(load > 0.5 * cores ? [`load ${load} at the start`] : []),
    ...(others > 0.1 * cores ? [`other processes kept ${others} cores busy`] : []),
  ];
  if (reasons.length === 0) return undefined;
  return `WARNING: ${reasons.join(', ')} (${cores} cores): times are upper bounds, run it again`;
}

function reading(): ProcessorTimes {
  const { user, system } = process.cpuUsage();
  const busyMs = cpus().reduce(
    (sum, { times }) => sum + times.user + times.nice + times.sys + times.irq,
    0,
  );
  return { busyMs, ownMs: (user + system) / 1000, atMs: performance.now() };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
