// Checks, times, prints and saves the rows of one bench in `bench/results/<device>-<bench>.json`.
// A row whose check failed has no time.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { type Device, open, type Stream } from '@altstream/cuda-runtime';
import { loadMoeKernels } from '../src/index.js';
import { readBandwidth } from './read-bandwidth.js';

/** One line of a bench. */
export interface BenchCase {
  /** What is varied, printed and saved. */
  readonly case: Readonly<Record<string, string | number>>;
  /** Bytes that must come from memory at least. */
  readonly bytes: number;
  /** Multiplications and additions, where they matter. */
  readonly flops?: number;
  /** Uploads inputs; `run` enqueues once, `isRight` checks what it wrote. */
  readonly prepare: (stream: Stream) => Promise<BenchRun>;
}

/** A prepared line. */
export interface BenchRun {
  readonly run: () => void;
  readonly isRight: () => Promise<boolean>;
}

interface BenchRow {
  readonly case: BenchCase['case'];
  readonly right: boolean;
  readonly us?: number;
  readonly p95Us?: number;
  /** Time of all threads together: what a shared machine disturbs least. */
  readonly cpuUs?: number;
  readonly floorUs?: number;
  readonly gflops?: number;
}

const samples = 25;
const sampleMs = 10;

/** Runs the cases on the CPU backend with all its threads. */
export async function runBench(bench: string, cases: readonly BenchCase[]): Promise<void> {
  const runtime = await open({ backend: 'cpu' });
  try {
    await loadMoeKernels(runtime);
    const device = runtime.device();
    const readGBps = await readBandwidth(device.limits.processors);
    const rows: BenchRow[] = [];
    const stream = device.createStream({ name: bench });
    for (const one of cases) rows.push(await runCase(one, stream, readGBps));
    stream.dispose();
    report(bench, device, readGBps, rows);
    if (rows.some(({ right }) => !right)) process.exitCode = 1;
  } finally {
    await runtime.dispose();
  }
}

async function runCase(one: BenchCase, stream: Stream, readGBps: number): Promise<BenchRow> {
  const { run, isRight } = await one.prepare(stream);
  run();
  if (!(await isRight())) return { case: one.case, right: false };
  const { times, cpuUs } = await measure(stream, run);
  const us = times[Math.floor(times.length / 2)] ?? Number.NaN;
  const row = {
    case: one.case,
    us,
    p95Us: times[Math.floor(times.length * 0.95)] ?? Number.NaN,
    cpuUs,
    floorUs: one.bytes / readGBps / 1e3,
    right: true,
  };
  return one.flops === undefined ? row : { ...row, gflops: one.flops / us / 1e3 };
}

/** Microseconds a call, ascending; short calls are timed several at once. */
async function measure(stream: Stream, run: () => void) {
  const once = await milliseconds(stream, run, 1);
  const calls = Math.min(200, Math.max(1, Math.ceil(sampleMs / once)));
  const times: number[] = [];
  const before = process.cpuUsage();
  for (let sample = 0; sample < samples; sample += 1) {
    times.push(((await milliseconds(stream, run, calls)) * 1000) / calls);
  }
  const { user, system } = process.cpuUsage(before);
  return { times: times.sort((a, b) => a - b), cpuUs: (user + system) / (samples * calls) };
}

async function milliseconds(stream: Stream, run: () => void, calls: number): Promise<number> {
  const start = performance.now();
  for (let call = 0; call < calls; call += 1) run();
  await stream.synchronize();
  return performance.now() - start;
}

function report(bench: string, device: Device, readGBps: number, rows: readonly BenchRow[]): void {
  const { cpuLevel, processors } = device.limits;
  const name = `${cpus()[0]?.model ?? 'cpu'} ${cpuLevel} x${processors}`;
  const slug = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const file = new URL(`results/${slug}-${bench}.json`, import.meta.url);
  print(`${bench} · ${name} · reads ${readGBps.toFixed(1)} GB/s`, rows, savedRows(file));
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  const command = `tsx --conditions=@altstream/source bench/${bench}.bench.ts`;
  const date = new Date().toISOString();
  const content = { bench, device: name, commit, command, date, ceilings: { readGBps }, rows };
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(content, null, 1)}\n`);
}

function savedRows(file: URL): readonly BenchRow[] {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { rows: BenchRow[] }).rows;
  } catch {
    return []; // no run was saved on this device yet
  }
}

function print(title: string, rows: readonly BenchRow[], saved: readonly BenchRow[]): void {
  process.stdout.write(
    `${title}\ncase, µs median, µs p95, µs of all threads, share of the read bandwidth, GFLOP/s\n`,
  );
  for (const { case: values, us, p95Us, cpuUs, floorUs, gflops, right } of rows) {
    const text = Object.entries(values).map(([key, value]) => `${key} ${value}`);
    const before = saved.find((row) => JSON.stringify(row.case) === JSON.stringify(values))?.us;
    const cells = [
      us?.toFixed(1) ?? '–',
      p95Us?.toFixed(1) ?? '–',
      cpuUs?.toFixed(1) ?? '–',
      us && floorUs ? `${Math.round((100 * floorUs) / us)}%` : '–',
      gflops?.toFixed(0) ?? '',
      us && before ? `${(before / us).toFixed(2)}x saved` : '',
      right ? 'right' : 'WRONG',
    ].map((cell) => cell.padStart(10));
    process.stdout.write(`${text.join('  ').padEnd(52)}${cells.join(' ')}\n`);
  }
}
