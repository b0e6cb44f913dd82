import type { BenchResult, BenchRow, BenchTarget } from './bench-case.js';
import { loadWarning } from './machine-load.js';
import { compare, sameCase } from './results.js';

interface Column {
  readonly title: string;
  text(row: BenchRow, saved: BenchRow | undefined): string | undefined;
}

const columns: readonly Column[] = [
  { title: 'µs', text: ({ us }) => us?.toFixed(2) },
  { title: 'p95', text: ({ p95Us }) => p95Us?.toFixed(2) },
  { title: 'floor µs', text: ({ floorUs }) => floorUs?.toFixed(2) },
  { title: 'of floor', text: ({ us, floorUs }) => percent(floorUs, us) },
  { title: 'GB/s', text: ({ gbps }) => gbps?.toFixed(1) },
  { title: 'GFLOP/s', text: ({ gflops }) => gflops?.toFixed(1) },
  { title: 'tokens/s', text: ({ tokensPerSecond }) => tokensPerSecond?.toFixed(0) },
  { title: '… a user', text: (row) => row.tokensPerSecondPerUser?.toFixed(1) },
  {
    title: 'saved',
    text: ({ savedPercent: saved }) => (saved ? `${saved.toFixed(1)} %` : undefined),
  },
  { title: 'chosen', text: ({ way }) => way },
  { title: 'vs saved', text: ({ us }, old) => times(old?.us, us) },
];

/** Behind the peers' times. */
const againstPeers: readonly Column[] = [
  { title: 'of peer', text: ({ ofPeer }) => ofPeer?.toFixed(2) },
  { title: 'target', text: ({ target }) => target && verdict(target) },
];

function verdict({ value, most }: BenchTarget): string {
  return value <= most ? 'met' : 'MISSED';
}

/** A run as text; `saved` is the run to compare with. Columns without a value are left out. */
export function table(result: BenchResult, saved?: BenchResult): string {
  const shown = [...columns, ...peerColumns(result.rows), ...againstPeers].filter(({ text }) =>
    result.rows.some((row) => text(row, sameCase(saved, row)) !== undefined),
  );
  const width = Math.max(4, ...result.rows.map((row) => label(row).length));
  const titles = [...shown.map(({ title }) => title), 'right'];
  const lines = result.rows.map((row) => {
    const cells = shown.map(({ text }) => text(row, sameCase(saved, row)) ?? '–');
    return cellsOf(label(row), width, [...cells, row.right ? 'yes' : 'NO']);
  });
  const all = [head(result), cellsOf('case', width, titles), ...lines, ...tail(result, saved)];
  return `${all.join('\n')}\n`;
}

function head({ bench, device, commit, load, ceilings = {} }: BenchResult): string {
  const rates = Object.entries(ceilings).map(([name, value]) => `${name} ${value.toFixed(4)}`);
  const facts = load === undefined ? [] : [`load ${load}`];
  return [bench, device, `commit ${commit}`, ...facts, ...rates].join(' · ');
}

function tail(result: BenchResult, saved: BenchResult | undefined): readonly string[] {
  const warning = loadWarning(result);
  const compared = saved && compare(saved, result);
  const mean = compared?.rows.length
    ? `geometric mean ${compared.geometricMean.toFixed(2)}x over ${compared.rows.length} cases ` +
      `saved at commit ${saved?.commit}, load ${saved?.load ?? 'unknown'}`
    : undefined;
  const isCached = result.rows.some(({ us, floorUs }) => us && floorUs && floorUs > us);
  const cached = isCached
    ? 'above 100 % of the floor: from a cache, or others slowed the ceiling'
    : undefined;
  return [cached, mean, warning].filter((line) => line !== undefined);
}

/** A column a peer: its median, in microseconds. */
function peerColumns(rows: readonly BenchRow[]): readonly Column[] {
  const names = new Set(rows.flatMap(({ peers = {} }) => Object.keys(peers)));
  return [...names].map((name) => ({
    title: `${name} µs`,
    text: ({ peers }) => peers?.[name]?.toFixed(2),
  }));
}

function cellsOf(name: string, width: number, cells: readonly string[]): string {
  return [name.padEnd(width), ...cells.map((cell) => ` ${cell.padStart(9)}`)].join('');
}

function label({ case: values }: BenchRow): string {
  return Object.entries(values)
    .map(([key, value]) => `${key} ${value}`)
    .join('  ');
}

function percent(part: number | undefined, whole: number | undefined): string | undefined {
  return part && whole ? `${Math.round((100 * part) / whole)} %` : undefined;
}

function times(old: number | undefined, now: number | undefined): string | undefined {
  return old && now ? `${(old / now).toFixed(2)}x` : undefined;
}
