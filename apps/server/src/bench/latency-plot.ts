import { percentileOf } from './statistics.js';

/** The times of one metric, in milliseconds. */
export interface LatencySeries {
  readonly name: string;
  readonly values: readonly number[];
}

const size = { width: 640, height: 360, left: 64, right: 110, top: 36, bottom: 48 };
const colours = ['#1f6feb', '#d1242f', '#1a7f37', '#9a6700', '#8250df'];
/** Where the curves are drawn: closer together where they rise. */
const percents = [...Array.from({ length: 100 }, (_, percent) => percent), 99.5, 99.9, 100];
/** The axis of milliseconds is logarithmic; what is below is drawn at it. */
const leastMs = 0.01;

/** A self-contained SVG: which share of the requests took at most so long. */
export function latencyPlot(series: readonly LatencySeries[], title: string): string {
  const curves = series
    .filter(({ values }) => values.length > 0)
    .map(({ name, values }) => ({ name, points: curveOf(values) }));
  const times = curves.flatMap(({ points }) => points.map(({ ms }) => ms));
  const low = Math.floor(Math.log10(Math.min(1, ...times)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(1, ...times))));
  const x = (percent: number): number =>
    size.left + (percent / 100) * (size.width - size.left - size.right);
  const y = (ms: number): number =>
    size.height -
    size.bottom -
    ((Math.log10(ms) - low) / (high - low)) * (size.height - size.top - size.bottom);
  const decades = Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index));
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" font-family="system-ui, sans-serif" font-size="12">`,
    '<rect width="100%" height="100%" fill="#ffffff"/>',
    text(size.left, 20, title, 'font-weight="600" font-size="14"'),
    text((x(0) + x(100)) / 2, size.height - 8, 'percentile', 'text-anchor="middle"'),
    text(14, 200, 'ms', 'text-anchor="middle" transform="rotate(-90 14 200)"'),
    ...decades.map(
      (ms) =>
        `<line x1="${size.left}" x2="${x(100)}" y1="${y(ms).toFixed(1)}" y2="${y(ms).toFixed(1)}" stroke="#d0d7de"/>${text(size.left - 8, y(ms) + 4, String(Number(ms.toPrecision(3))), 'text-anchor="end"')}`,
    ),
    ...[0, 25, 50, 75, 90, 100].map((percent) =>
      text(x(percent), size.height - size.bottom + 18, String(percent), 'text-anchor="middle"'),
    ),
    ...curves.flatMap(({ name, points }, index) => {
      const colour = colours[index % colours.length] ?? '#000000';
      const path = points.map(({ percent, ms }) => `${x(percent).toFixed(1)},${y(ms).toFixed(1)}`);
      const lastMs = points.at(-1)?.ms ?? 1;
      return [
        `<polyline points="${path.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`,
        text(x(100) + 8, y(lastMs) + 4, name, `fill="${colour}"`),
      ];
    }),
    '</svg>',
  ].join('\n')}\n`;
}

function curveOf(values: readonly number[]): { percent: number; ms: number }[] {
  const ascending = [...values].sort((a, b) => a - b);
  return percents.map((percent) => ({
    percent,
    ms: Math.max(leastMs, percentileOf(ascending, percent)),
  }));
}

function text(x: number, y: number, content: string, attributes: string): string {
  const safe = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>${safe}</text>`;
}
