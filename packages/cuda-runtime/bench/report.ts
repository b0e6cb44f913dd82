// The harness in tools/bench depends on this package, so its benches have a small one of their own.
// It writes the same fields.
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BenchRuntime } from './bench-runtime.js';
import { commit, deviceName, driverVersion, machineLoad } from './machine.js';
import type { Peers } from './peer-times.js';

/** One line of a bench. `us` is the median; a wrong row has no time. */
export interface Row {
  readonly case: Readonly<Record<string, string | number>>;
  readonly us?: number;
  readonly p95Us?: number;
  readonly gbps?: number;
  /** How often that is in a second. */
  readonly perSecond?: number;
  /** Medians of peers, in microseconds. */
  readonly peers?: Readonly<Record<string, number>>;
  /** What the row is held against on a GPU. */
  readonly target?: Target;
  readonly right: boolean;
}

/** A number that should not be above another one. */
export interface Target {
  readonly what: string;
  readonly value: number;
  readonly most: number;
}

/**
 * Prints the table; with `--save` also writes bench/results/<device>-<bench>.json, with
 * `--out FOLDER` the same into that folder, if all rows are right. Ends the runtime.
 */
export async function report(
  setup: BenchRuntime,
  rows: readonly Row[],
  peers: Peers = {},
): Promise<void> {
  const { bench, runtime } = setup;
  const machine = machineLoad();
  const device = deviceName(runtime);
  const driver = driverVersion(runtime);
  const title = [
    bench,
    device,
    ...(driver ? [`driver ${driver}`] : []),
    `commit ${commit()}`,
    `load ${machine.load}`,
  ];
  const head = line('case', 'median', 'p95', '', 'right');
  const lines = [title.join(' · '), head, ...rows.flatMap(rowLines)];
  const peerStatus = Object.fromEntries(
    Object.entries(peers).map(([name, { status }]) => [name, status]),
  );
  for (const [name, status] of Object.entries(peerStatus)) lines.push(`${name}: ${status}`);
  if (machine.load > 0.5 * cpus().length || machine.othersBusy > 0.1 * cpus().length) {
    const facts = `load ${machine.load} at the start, others kept ${machine.othersBusy} cores busy`;
    lines.push(`WARNING: ${facts}: times are upper bounds, run it again`);
  }
  process.stdout.write(`${lines.join('\n')}\n`);
  if (rows.every(({ right }) => right)) {
    save(setup, { ...(driver && { driver }), ...machine, ceilings: {}, peerStatus, rows });
  } else {
    process.exitCode = 1;
  }
  await runtime.dispose();
}

function rowLines(row: Row): readonly string[] {
  const what = Object.entries(row.case).map(([name, value]) => `${name}=${value}`);
  const peers = Object.entries(row.peers ?? {}).map(
    ([name, us]) =>
      `${name} ${us.toFixed(3)} µs (${((row.us ?? Number.NaN) / us).toFixed(2)} of it)`,
  );
  const more = [
    ...(row.gbps === undefined ? [] : [`${row.gbps.toFixed(2)} GB/s`]),
    ...(row.perSecond === undefined ? [] : [`${Math.round(row.perSecond)} a second`]),
    ...peers,
  ];
  const { target } = row;
  return [
    line(what.join(' '), time(row.us), time(row.p95Us), more.join(', '), row.right ? 'yes' : 'NO'),
    ...(target ? [`  ${verdict(target)}`] : []),
  ];
}

function verdict({ what, value, most }: Target): string {
  return `${value <= most ? 'target met' : 'TARGET MISSED'}: ${what} ${value.toFixed(3)}, at most ${most}`;
}

function line(what: string, median: string, p95: string, more: string, right: string): string {
  return `${what.padEnd(52)} ${median.padStart(14)} ${p95.padStart(14)}  ${right.padEnd(5)}  ${more}`.trimEnd();
}

function time(us: number | undefined): string {
  return us === undefined ? '–' : `${us.toFixed(3)} µs`;
}

function save(setup: BenchRuntime, measured: Readonly<Record<string, unknown>>): void {
  const { bench, runtime, isQuick, isSaved, out } = setup;
  const device = deviceName(runtime);
  const results = fileURLToPath(new URL('results', import.meta.url));
  const folders = [...(isSaved && !isQuick ? [results] : []), ...(out === undefined ? [] : [out])];
  const head = { bench, device, commit: commit(), command: command(setup) };
  const content = { ...head, date: new Date().toISOString(), ...measured };
  for (const folder of folders) {
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `${slug(device)}-${bench}.json`);
    writeFileSync(file, `${JSON.stringify(content, null, 1)}\n`);
  }
}

// The folder of `--out` is the caller's business.
function command({ bench, out }: BenchRuntime): string {
  const variables = ['CUDA_RUNTIME_CPU_LEVEL', 'CUDA_RUNTIME_CPU_THREADS'].flatMap((name) =>
    process.env[name] ? [`${name}=${process.env[name]}`] : [],
  );
  const given = process.argv.slice(2).filter((word) => word !== '--out' && word !== out);
  const file = `bench/${bench}.bench.ts`;
  return [...variables, 'tsx --conditions=@altstream/source', file, ...given].join(' ');
}

function slug(text: string): string {
  return text
    .toLowerCase()
    .replace(/^nvidia /, '')
    .replace(/[^a-z0-9]+/g, '-');
}
