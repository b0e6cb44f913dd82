// `pnpm plots`: draws the pictures of the package documents from saved runs, so that a plot never
// says anything that no file says.

import { readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { BenchRow } from './bench-case.js';
import { plotSvg, type Series } from './plot.js';
import { readResult } from './results.js';

interface Plot {
  /** Folder of the package whose runs and documents are meant. */
  readonly folder: string;
  /** Ends of the result files to read, each with its place in the series' names. */
  readonly runs: readonly { readonly ending: string; readonly name: string }[];
  readonly output: string;
  readonly title: string;
  /** The series that a row belongs to; undefined leaves the row out. */
  readonly seriesOf: (row: BenchRow) => string | undefined;
}

const plots: readonly Plot[] = [
  {
    folder: 'packages/dense-kernels',
    runs: [{ ending: '-x1-linear.json', name: '' }],
    output: 'docs/linear.svg',
    title: 'linear 6144 × 6144, bf16 activations, one thread',
    seriesOf: ({ case: { weight, x, out } }) =>
      x === 'bf16' && out === 6144 ? `${weight} weights` : undefined,
  },
  {
    folder: 'packages/moe-kernels',
    runs: ['amx', 'avx512', 'avx2'].map((level) => ({
      ending: `-${level}-x2-routed-experts.json`,
      name: level,
    })),
    output: 'docs/routed-experts.svg',
    title: 'routed experts, 6144 × 3072, 8 experts, MXFP8, two threads',
    seriesOf: ({ case: { weights } }) => (weights === 'mxfp8' ? '' : undefined),
  },
];

const root = fileURLToPath(new URL('../../..', import.meta.url));
for (const plot of plots) {
  const series = plot.runs.flatMap((run) => seriesOfRun(plot, run));
  const options = { title: plot.title, xLabel: 'tokens', yLabel: 'µs, median' };
  writeFileSync(`${root}${plot.folder}/${plot.output}`, plotSvg(series, options));
  process.stdout.write(`${plot.folder}/${plot.output}\n`);
}

/** One series a kind of row, and the floor of the first kind. */
function seriesOfRun(plot: Plot, { ending, name }: Plot['runs'][number]): Series[] {
  const folder = `${root}${plot.folder}/bench/results/`;
  const file = readdirSync(folder).find((one) => one.endsWith(ending));
  if (!file)
    throw new Error(`${folder} has no saved run *${ending}; make one with pnpm bench --save`);
  const rows = readResult(pathToFileURL(folder + file))?.rows ?? [];
  const kinds = new Map<string, BenchRow[]>();
  for (const row of rows) {
    const kind = plot.seriesOf(row);
    if (kind !== undefined) kinds.set(kind, [...(kinds.get(kind) ?? []), row]);
  }
  return [...kinds].flatMap(([kind, members]) => {
    const label = [kind, name].filter(Boolean).join(' ');
    return [
      line(label, members, ({ us }) => us),
      line(`${label} floor`, members, (row) => row.floorUs),
    ];
  });
}

function line(
  name: string,
  rows: readonly BenchRow[],
  value: (row: BenchRow) => number | undefined,
): Series {
  const points = rows.flatMap((row) => {
    const y = value(row);
    return y === undefined ? [] : [{ x: Number(row.case['tokens']), y }];
  });
  return { name, points };
}
