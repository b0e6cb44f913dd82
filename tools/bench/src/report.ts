import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { Device } from '@altstream/cuda-runtime';
import type { BenchResult, BenchRow } from './bench-case.js';
import { readResult } from './results.js';

/** A finished run. */
export interface BenchRunFacts {
  readonly bench: string;
  readonly from: string;
  readonly device: Device;
  readonly ceilings: Readonly<Record<string, number>>;
  readonly rows: readonly BenchRow[];
  readonly save: boolean;
}

/** Prints the rows beside the saved ones, and saves them if asked to. */
export function report({ bench, from, device, ceilings, rows, save }: BenchRunFacts): void {
  const { sm, cpuLevel, processors } = device.limits;
  const name = sm === '' ? `${cpus()[0]?.model ?? 'cpu'} ${cpuLevel} x${processors}` : device.name;
  const file = new URL(`results/${slug(name)}-${bench}.json`, from);
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  const given = process.argv.slice(2).join(' ');
  const result: BenchResult = {
    bench,
    device: name,
    commit,
    command: `tsx --conditions=@altstream/source bench/${bench}.bench.ts ${given}`.trim(),
    date: new Date().toISOString(),
    ceilings,
    rows,
  };
  process.stdout.write(table(result, readResult(file)));
  if (!save) return;
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(result, null, 1)}\n`);
}

/** A run as text; `saved` is the run to compare with. */
export function table(result: BenchResult, saved?: BenchResult): string {
  const ceilings = Object.entries(result.ceilings ?? {}).map(
    ([name, value]) => `${name} ${value.toFixed(4)}`,
  );
  const head = [result.bench, result.device, `commit ${result.commit}`, ...ceilings].join(' · ');
  const width = Math.max(4, ...result.rows.map((row) => label(row).length));
  const columns = ['µs', 'p95', 'floor µs', 'of floor', 'GFLOP/s', 'vs saved', 'right'];
  const lines = result.rows.map((row) => line(row, width, before(saved, row)));
  const titles = ['case'.padEnd(width), ...columns.map((title) => title.padStart(10))].join('');
  return `${[head, titles, ...lines].join('\n')}\n`;
}

function line(row: BenchRow, width: number, old: number | undefined): string {
  const { us, p95Us, floorUs, gflops, right } = row;
  const cells = [
    us?.toFixed(2),
    p95Us?.toFixed(2),
    floorUs?.toFixed(2),
    us && floorUs ? `${Math.round((100 * floorUs) / us)} %` : undefined,
    gflops?.toFixed(1),
    us && old ? `${(old / us).toFixed(2)}x` : undefined,
    right ? 'yes' : 'NO',
  ];
  return [label(row).padEnd(width), ...cells.map((cell) => (cell ?? '–').padStart(10))].join('');
}

function before(saved: BenchResult | undefined, { case: values }: BenchRow): number | undefined {
  const key = JSON.stringify(values);
  return saved?.rows.find((row) => JSON.stringify(row.case) === key)?.us;
}

function label({ case: values }: BenchRow): string {
  return Object.entries(values)
    .map(([key, value]) => `${key} ${value}`)
    .join('  ');
}

function slug(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}
