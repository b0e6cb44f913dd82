import { existsSync, readFileSync } from 'node:fs';
import type { BenchResult, BenchRow } from './bench-case.js';

/** A saved run; undefined if there is none. A file with a wrong row is refused. */
export function readResult(file: URL): BenchResult | undefined {
  if (!existsSync(file)) return undefined;
  const result = JSON.parse(readFileSync(file, 'utf8')) as BenchResult;
  const wrong = result.rows.find(({ right }) => right !== true);
  if (wrong) {
    throw new Error(
      `${file.pathname} holds a wrong row: ${JSON.stringify(wrong.case)}; run it again`,
    );
  }
  return result;
}

/** The row of a run whose case is the same. */
export function sameCase(result: BenchResult | undefined, row: BenchRow): BenchRow | undefined {
  const key = JSON.stringify(row.case);
  return result?.rows.find((other) => JSON.stringify(other.case) === key);
}

/** One case in two runs. */
export interface Comparison {
  readonly label: string;
  readonly before: number;
  readonly after: number;
}

/** The cases that both runs have, and the geometric mean of the speed-ups. */
export function compare(
  before: BenchResult,
  after: BenchResult,
): { readonly rows: readonly Comparison[]; readonly geometricMean: number } {
  const rows = after.rows.flatMap((row) => {
    const old = sameCase(before, row)?.us;
    const label = JSON.stringify(row.case);
    return row.us && old ? [{ label, before: old, after: row.us }] : [];
  });
  const logs = rows.map((row) => Math.log(row.before / row.after));
  const mean = logs.reduce((sum, one) => sum + one, 0) / Math.max(1, logs.length);
  return { rows, geometricMean: Math.exp(mean) };
}
