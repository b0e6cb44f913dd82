// Checks, times and prints the rows of one bench; with `--save` also writes them to
// `bench/results/<device>-<bench>.json` in the format that tools/bench compares. A row whose check
// failed has no time.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { type Device, open, type Stream } from '@altstream/cuda-runtime';
import { loadDenseKernels } from '../src/index.js';
import { measure } from './measure.js';

/** One line of a bench. */
export interface BenchCase {
  /** What is varied, printed and saved. */
  readonly case: Readonly<Record<string, string | number>>;
  /** Memory that must be read and written at least, for the floor. */
  readonly bytes: number;
  /** Uploads inputs; `run` enqueues once, `isRight` compares what it wrote with the reference. */
  prepare(stream: Stream): Promise<{ run(): void; isRight(): Promise<boolean> }>;
}

interface BenchRow {
  readonly case: BenchCase['case'];
  readonly right: boolean;
  readonly us?: number;
  readonly p95Us?: number;
  readonly floorUs?: number;
}

/** What a bench is held against. */
export interface BenchCeiling {
  /** Name in the results, e.g. `readTBps`. */
  readonly name: string;
  /** TB/s with this many threads. */
  measure(threads: number): Promise<number>;
}

const hostCopy: BenchCeiling = { name: 'copyTBps', measure: async () => hostCopyTBps() };

/**
 * Runs the cases on the device of `--backend cpu|cuda` (default: what `open` picks), on the CPU with
 * `--threads N`.
 */
export async function runBench(
  bench: string,
  cases: readonly BenchCase[],
  ceiling: BenchCeiling = hostCopy,
): Promise<void> {
  const threads = Number(argument('--threads') ?? 0);
  const runtime = await open({
    backend: backendArgument(),
    ...(threads > 0 && { cpu: { threads } }),
  });
  try {
    await loadDenseKernels(runtime);
    const device = runtime.device();
    const used = threads || device.limits.processors;
    const tbps = await ceiling.measure(used);
    const stream = device.createStream({ name: bench });
    const rows: BenchRow[] = [];
    for (const one of cases) rows.push(await runCase(one, stream, tbps));
    stream.dispose();
    report(bench, deviceName(device, used), { [ceiling.name]: tbps }, rows);
    if (rows.some(({ right }) => !right)) process.exitCode = 1;
  } finally {
    await runtime.dispose();
  }
}

async function runCase(one: BenchCase, stream: Stream, tbps: number): Promise<BenchRow> {
  const { run, isRight } = await one.prepare(stream);
  run();
  if (!(await isRight())) return { case: one.case, right: false };
  const timing = await measure(stream, run);
  const floorUs = stream.device.limits.sm === '' ? one.bytes / tbps / 1e6 : undefined;
  return { case: one.case, ...timing, ...(floorUs !== undefined && { floorUs }), right: true };
}

function backendArgument(): 'auto' | 'cpu' | 'cuda' {
  const value = argument('--backend') ?? 'auto';
  if (value === 'auto' || value === 'cpu' || value === 'cuda') return value;
  throw new Error(`--backend must be auto, cpu or cuda, got ${value}`);
}

function argument(name: string): string | undefined {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
}

/** Bytes read plus written a second by one thread's copy, in TB/s: the ceiling of CPU rows. */
function hostCopyTBps(): number {
  const [from, to] = [new Float64Array(2 ** 23), new Float64Array(2 ** 23)];
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 6; round += 1) {
    const start = performance.now();
    to.set(from);
    best = Math.min(best, performance.now() - start);
  }
  return (2 * from.byteLength) / best / 1e9;
}

/** Prints the rows beside the saved ones, and saves them if asked to. */
function report(
  bench: string,
  name: string,
  ceilings: Readonly<Record<string, number>>,
  rows: readonly BenchRow[],
): void {
  const file = new URL(`results/${slug(name)}-${bench}.json`, import.meta.url);
  print(bench, name, rows, savedRows(file));
  if (!process.argv.includes('--save')) return;
  const given = process.argv.slice(2).join(' ');
  const command = `tsx --conditions=@altstream/source bench/${bench}.bench.ts ${given}`;
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  const date = new Date().toISOString();
  mkdirSync(new URL('.', file), { recursive: true });
  const content = { bench, device: name, commit, command, date, ceilings, rows };
  writeFileSync(file, `${JSON.stringify(content, null, 1)}\n`);
}

function deviceName({ limits, name }: Device, threads: number): string {
  return limits.sm === '' ? `${cpus()[0]?.model ?? 'cpu'} ${limits.cpuLevel} x${threads}` : name;
}

function slug(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}

function savedRows(file: URL): readonly BenchRow[] {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { rows: BenchRow[] }).rows;
  } catch {
    return []; // no run was saved on this device yet
  }
}

function print(
  bench: string,
  name: string,
  rows: readonly BenchRow[],
  saved: readonly BenchRow[],
): void {
  process.stdout.write(`${bench} · ${name}\n`);
  for (const { case: values, us, p95Us, floorUs, right } of rows) {
    const same = saved.find((row) => JSON.stringify(row.case) === JSON.stringify(values));
    const text = Object.entries(values).map(([key, value]) => `${key} ${value}`);
    const times = [us, p95Us, floorUs].map((time) => (time?.toFixed(1) ?? '–').padStart(10));
    const ratio = us && same?.us ? `${(same.us / us).toFixed(2)}x saved` : '';
    const line = [text.join('  ').padEnd(48), ...times, ratio, right ? 'right' : 'WRONG'];
    process.stdout.write(`${line.join('  ')}\n`);
  }
  process.stdout.write('columns: µs median, µs p95, µs floor of the measured bandwidth\n');
}
