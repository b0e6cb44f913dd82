// The harness in tools/bench depends on this package, so its benches have a small one of their own. It
// writes the same fields.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { openSync } from '../src/index.js';

/** One line of a bench. `us` is the median; a wrong row has no time. */
export interface Row {
  readonly case: Readonly<Record<string, string | number>>;
  readonly us?: number;
  readonly p95Us?: number;
  readonly right: boolean;
}

const before = processorTimes();

/** Microseconds an item, median and 95th percentile over `runs` runs of `items` items each. */
export async function measure(
  runs: number,
  items: number,
  run: () => Promise<number> | number,
): Promise<{ us: number; p95Us: number }> {
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

/** Prints the table; with `--save` also writes bench/results/<device>-<bench>.json if all is right. */
export function report(bench: string, rows: readonly Row[]): void {
  const load = startLoad();
  const othersBusy = othersBusySince(before);
  const lines = rows.map((row) => {
    const what = Object.entries(row.case).map(([name, value]) => `${name}=${value}`);
    const time = row.us === undefined ? '–' : `${row.us.toFixed(3)} µs`;
    const p95 = row.p95Us === undefined ? '–' : `${row.p95Us.toFixed(3)} µs`;
    return `${what.join(' ').padEnd(52)} ${time.padStart(12)} ${p95.padStart(12)}  ${row.right ? 'yes' : 'NO'}`;
  });
  const title = `${bench} · ${device()} · commit ${commit()} · load ${load}`;
  const head = `${'case'.padEnd(52)} ${'median'.padStart(12)} ${'p95'.padStart(12)}  right`;
  process.stdout.write(`${[title, head, ...lines].join('\n')}\n`);
  if (load > 0.5 * cpus().length || othersBusy > 0.1 * cpus().length) {
    const facts = `load ${load} at the start, other processes kept ${othersBusy} cores busy`;
    process.stdout.write(`WARNING: ${facts}: times are upper bounds, run it again\n`);
  }
  const isRight = rows.every(({ right }) => right);
  if (!isRight) process.exitCode = 1;
  if (isRight && process.argv.includes('--save')) save(bench, { load, othersBusy, rows });
}

function save(bench: string, measured: Readonly<Record<string, unknown>>): void {
  const file = new URL(`results/${slug(device())}-${bench}.json`, import.meta.url);
  const variables = ['CUDA_RUNTIME_CPU_LEVEL', 'CUDA_RUNTIME_CPU_THREADS'].flatMap((name) =>
    process.env[name] ? [`${name}=${process.env[name]} `] : [],
  );
  const run = `tsx --conditions=@altstream/source bench/${bench}.bench.ts --save`;
  const command = `${variables.join('')}${run}`;
  const head = {
    bench,
    device: device(),
    commit: commit(),
    command,
    date: new Date().toISOString(),
  };
  const { rows, ...load } = measured;
  // Overheads have no bandwidth to be held against.
  const content = { ...head, ...load, ceilings: {}, rows };
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(content, null, 1)}\n`);
}

/** One minute's load average at the start of the run; `pnpm bench` hands its own on. */
function startLoad(): number {
  const given = process.env['ALTSTREAM_BENCH_LOAD'];
  return given === undefined ? before.load : Number(given);
}

/** Cores that other processes kept busy since a moment. */
function othersBusySince(start: ReturnType<typeof processorTimes>): number {
  const now = processorTimes();
  const others = now.busyMs - start.busyMs - (now.ownMs - start.ownMs);
  return Math.round(Math.max(0, (100 * others) / (now.atMs - start.atMs))) / 100;
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

/** With the threads that the backend uses, not those of the machine. */
function device(): string {
  const runtime = openSync({ backend: 'cpu', isolated: true });
  const { threads } = runtime.describe().details;
  return `${cpus()[0]?.model ?? 'CPU'} ${runtime.device().limits.cpuLevel} x${threads}`;
}

function slug(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

/** With a plus if sources differ from it. */
function commit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();
  const changed = git('status', '--porcelain', '-uno', '--', 'src', 'native', ':(glob)bench/*.ts');
  return `${git('rev-parse', '--short', 'HEAD')}${changed === '' ? '' : '+'}`;
}
