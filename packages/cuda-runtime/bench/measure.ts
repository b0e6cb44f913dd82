import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { openSync } from '../src/index.js';

/** One line of a bench. `us` is the median; a wrong row has no time. */
export interface Row {
  readonly case: Readonly<Record<string, string | number>>;
  readonly us?: number;
  readonly p95Us?: number;
  readonly right: boolean;
}

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

/** Prints the table; with `--save` also writes bench/results/<device>-<bench>.json. */
export function report(bench: string, rows: readonly Row[]): void {
  const lines = rows.map((row) => {
    const what = Object.entries(row.case).map(([name, value]) => `${name}=${value}`);
    const time = row.us === undefined ? '–' : `${row.us.toFixed(3)} µs`;
    const p95 = row.p95Us === undefined ? '–' : `${row.p95Us.toFixed(3)} µs`;
    return `${what.join(' ').padEnd(52)} ${time.padStart(12)} ${p95.padStart(12)}  ${row.right ? 'yes' : 'NO'}`;
  });
  const title = `${bench} · ${device()} · commit ${commit()}`;
  const head = `${'case'.padEnd(52)} ${'median'.padStart(12)} ${'p95'.padStart(12)}  right`;
  process.stdout.write(`${[title, head, ...lines].join('\n')}\n`);
  if (process.argv.includes('--save')) save(bench, rows);
  if (rows.some(({ right }) => !right)) process.exitCode = 1;
}

function save(bench: string, rows: readonly Row[]): void {
  const folder = fileURLToPath(new URL('./results/', import.meta.url));
  mkdirSync(folder, { recursive: true });
  const command = `tsx --conditions=@altstream/source bench/${bench}.bench.ts --save`;
  const date = new Date().toISOString();
  const content = { bench, device: device(), commit: commit(), command, date, rows };
  const file = `${folder}${slug(device())}-${bench}.json`;
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);
}

function device(): string {
  const all = cpus();
  const runtime = openSync({ backend: 'cpu', isolated: true });
  return `${all[0]?.model ?? 'CPU'} ${runtime.device().limits.cpuLevel} x${all.length}`;
}

function slug(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

function commit(): string {
  return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
}
