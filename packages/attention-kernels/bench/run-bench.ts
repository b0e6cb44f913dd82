// Checks, times, prints and saves a bench: `bench/results/<device>-<bench>.json` (DESIGN §10). A row
// whose check failed has no time, and the process then ends with an error.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { type Device, open, type Stream } from '@altstream/cuda-runtime';
import { loadAttentionKernels } from '../src/index.js';
import { copyTBps, timeCalls } from './timing.js';

/** One row of a bench. */
export interface BenchCase {
  /** What is varied. */
  readonly case: Readonly<Record<string, string | number>>;
  /** Memory that must move at least. */
  readonly bytes: number;
  /** Multiplications and additions; 0: not counted. */
  readonly flops: number;
  /** Uploads; `run` enqueues one call, `check` throws if its result is wrong. */
  prepare(stream: Stream): Promise<{ run(): void; check(): Promise<void> }>;
}

interface Row {
  readonly case: BenchCase['case'];
  readonly us?: number;
  readonly p95Us?: number;
  readonly floorUs?: number;
  readonly gflops?: number;
  readonly right: boolean;
}

/** Runs on `--backend cpu|cuda` (default: what `open` picks). */
export async function runBench(bench: string, cases: readonly BenchCase[]): Promise<void> {
  const flag = process.argv.indexOf('--backend');
  const backend = flag < 0 ? 'auto' : process.argv[flag + 1];
  if (backend !== 'auto' && backend !== 'cpu' && backend !== 'cuda') {
    throw new Error(`--backend must be auto, cpu or cuda, got ${backend}`);
  }
  await using runtime = await open({ backend });
  await loadAttentionKernels(runtime);
  const device = runtime.device();
  using stream = device.createStream({ name: bench });
  const copy = device.limits.sm === '' ? copyTBps() : undefined;
  const rows: Row[] = [];
  for (const one of cases) rows.push(await runCase(one, stream, copy));
  report(bench, device, copy, rows);
  if (rows.some(({ right }) => !right)) process.exitCode = 1;
}

async function runCase(one: BenchCase, stream: Stream, copy: number | undefined): Promise<Row> {
  const { run, check } = await one.prepare(stream);
  run();
  try {
    await check();
  } catch (error) {
    process.stderr.write(`${JSON.stringify(one.case)}: ${String(error)}\n`);
    return { case: one.case, right: false };
  }
  const { us, p95Us } = await timeCalls(stream, run);
  const floor = copy === undefined ? {} : { floorUs: one.bytes / copy / 1e6 };
  const rate = one.flops > 0 ? { gflops: one.flops / us / 1e3 } : {};
  return { case: one.case, us, p95Us, ...floor, ...rate, right: true };
}

function report(bench: string, device: Device, copy: number | undefined, rows: Row[]): void {
  const { sm, cpuLevel, processors } = device.limits;
  const cpu = `${cpus()[0]?.model ?? 'cpu'} ${cpuLevel} x${processors}`;
  const name = sm === '' ? cpu : device.name;
  const stem = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const file = new URL(`results/${stem}-${bench}.json`, import.meta.url);
  print(bench, name, rows, saved(file));
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  const command = `tsx --conditions=@altstream/source bench/${bench}.bench.ts`;
  const ceilings = copy === undefined ? {} : { copyTBps: copy };
  const head = { bench, device: name, commit, command, date: new Date().toISOString(), ceilings };
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, `${JSON.stringify({ ...head, rows }, null, 1)}\n`);
}

/** Rows of the last run on this device; none the first time. */
function saved(file: URL): readonly Row[] {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { rows: Row[] }).rows;
  } catch {
    return [];
  }
}

function print(bench: string, name: string, rows: readonly Row[], before: readonly Row[]): void {
  const lines = rows.map((row) => {
    const key = JSON.stringify(row.case);
    const old = before.find((other) => JSON.stringify(other.case) === key)?.us;
    const numbers = [row.us, row.p95Us, row.floorUs, row.gflops, old && row.us && old / row.us];
    const label = Object.entries(row.case).flat().join(' ').padEnd(60);
    const columns = numbers.map((value) => (value?.toFixed(value < 10 ? 2 : 0) ?? '–').padStart(9));
    return `${label}${columns.join('')}  ${row.right ? 'yes' : 'NO'}`;
  });
  const head = `${'case'.padEnd(60)}       µs      p95    floor   GFLOP/s vs saved  right`;
  process.stdout.write(`${bench} · ${name}\n${head}\n${lines.join('\n')}\n`);
}
