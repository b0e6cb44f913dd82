/** A line of a plot. */
export interface Series {
  readonly name: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

/** What a plot shows; both axes are logarithmic. */
export interface PlotOptions {
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
}

const size = { width: 640, height: 360, left: 64, right: 150, top: 36, bottom: 48 };
const colours = ['#1f6feb', '#d1242f', '#1a7f37', '#9a6700', '#8250df', '#57606a'];

/** Draws series as a self-contained SVG. */
export function plotSvg(series: readonly Series[], options: PlotOptions): string {
  const points = series.flatMap((one) => one.points);
  const x = axis(
    points.map((point) => point.x),
    size.left,
    size.width - size.right,
  );
  const y = axis(
    points.map((point) => point.y),
    size.height - size.bottom,
    size.top,
  );
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" font-family="system-ui, sans-serif" font-size="12">`,
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    text(size.left, 20, options.title, 'font-weight="600" font-size="14"'),
    text(
      (size.left + size.width - size.right) / 2,
      size.height - 8,
      options.xLabel,
      'text-anchor="middle"',
    ),
    text(
      14,
      size.height / 2,
      options.yLabel,
      `text-anchor="middle" transform="rotate(-90 14 ${size.height / 2})"`,
    ),
    ...y.ticks.map((tick) => gridLine(tick, y.at(tick))),
    ...x.ticks.map((tick) =>
      text(x.at(tick), size.height - size.bottom + 18, shown(tick), 'text-anchor="middle"'),
    ),
    ...series.flatMap((one, index) => drawSeries(one, index, x.at, y.at)),
    '</svg>',
  ];
  return `${parts.join('\n')}\n`;
}

interface Axis {
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
}

/** Maps a logarithmic range to pixels; ticks are the values 1, 2, 5 of each decade in range. */
function axis(values: readonly number[], from: number, to: number): Axis {
  const low = Math.log10(Math.min(...values));
  const high = Math.log10(Math.max(...values));
  const span = high - low || 1;
  const decades = Array.from(
    { length: Math.ceil(high) - Math.floor(low) + 1 },
    (_, index) => 10 ** (Math.floor(low) + index),
  );
  const ticks = decades
    .flatMap((decade) => [decade, 2 * decade, 5 * decade])
    .filter((tick) => Math.log10(tick) >= low - 0.02 && Math.log10(tick) <= high + 0.02);
  return { at: (value) => from + ((Math.log10(value) - low) / span) * (to - from), ticks };
}

function drawSeries(
  { name, points }: Series,
  index: number,
  x: (value: number) => number,
  y: (value: number) => number,
): string[] {
  const colour = colours[index % colours.length] ?? '#000000';
  const path = points.map((point) => `${x(point.x).toFixed(1)},${y(point.y).toFixed(1)}`).join(' ');
  const dots = points.map(
    (point) =>
      `<circle cx="${x(point.x).toFixed(1)}" cy="${y(point.y).toFixed(1)}" r="3" fill="${colour}"><title>${escapeXml(name)}: ${point.x}, ${point.y.toPrecision(4)}</title></circle>`,
  );
  const last = points.at(-1);
  const labelY = last ? y(last.y) + 4 : 0;
  return [
    `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
    ...dots,
    text(size.width - size.right + 10, labelY, name, `fill="${colour}"`),
  ];
}

function gridLine(tick: number, at: number): string {
  const line = `<line x1="${size.left}" x2="${size.width - size.right}" y1="${at.toFixed(1)}" y2="${at.toFixed(1)}" stroke="#d0d7de"/>`;
  return line + text(size.left - 8, at + 4, shown(tick), 'text-anchor="end"');
}

function text(x: number, y: number, content: string, attributes: string): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>${escapeXml(content)}</text>`;
}

function shown(value: number): string {
  return value >= 1000 ? `${value / 1000}k` : String(Number(value.toPrecision(3)));
}

function escapeXml(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
