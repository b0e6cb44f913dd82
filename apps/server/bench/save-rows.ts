import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';

/**
 * Keeps the rows of a bench of this package in bench/results/, in the format that tools/bench
 * compares.
 */
export function saveRows(bench: string, rows: readonly object[], facts: object = {}): void {
  const device = `cpu ${cpus()[0]?.model.trim() ?? 'unknown'}`;
  const target = new URL('./results/', import.meta.url);
  mkdirSync(target, { recursive: true });
  const file = {
    bench,
    device,
    commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim(),
    command: `node --import tsx --conditions=@altstream/source apps/server/bench/${bench}.bench.ts --save`,
    date: new Date().toISOString().slice(0, 10),
    ...facts,
    ceilings: {},
    rows,
  };
  const name = device.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  writeFileSync(new URL(`${name}-${bench}.json`, target), `${JSON.stringify(file, null, 2)}\n`);
}
