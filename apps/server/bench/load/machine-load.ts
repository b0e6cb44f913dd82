import { cpus, loadavg } from 'node:os';

/** What else the machine did during a run. */
export interface MachineLoad {
  /** One minute's load average at the start. */
  readonly load: number;
  /** Cores that processes other than the server and its client kept busy. */
  readonly othersBusy: number;
}

/** Watches the machine from now on; what it saw is told when the server's own time is known. */
export function watchMachine(): (serverCpuMs: number) => MachineLoad {
  const load = hundredths(loadavg()[0] ?? Number.NaN);
  const before = { busyMs: busyMs(), ownMs: ownMs(), atMs: performance.now() };
  return (serverCpuMs) => {
    const others = busyMs() - before.busyMs - (ownMs() - before.ownMs) - serverCpuMs;
    const seconds = performance.now() - before.atMs;
    return { load, othersBusy: hundredths(Math.max(0, others / seconds)) };
  };
}

function busyMs(): number {
  return cpus().reduce(
    (sum, { times }) => sum + times.user + times.nice + times.sys + times.irq,
    0,
  );
}

function ownMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}
