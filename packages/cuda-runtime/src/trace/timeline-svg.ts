import { clip, escapeXml, streamColour } from '../svg-text.js';
import { formatTime, ticksOf, unitOf } from './time-axis.js';
import type { HostRange, TraceContent, TraceSpan } from './trace-span.js';
import { type Track, tracksOf } from './tracks.js';

const width = 1080;
const labelWidth = 170;
const right = 14;
const rowHeight = 28;
const barHeight = 20;
const top = 44;
const legendHeight = 30;
const mostArrows = 200;
const mostHostRows = 3;
const leastText = 36;

interface Row {
  readonly label: string;
  readonly y: number;
  readonly bars: string;
}

type Scale = (ns: number) => number;

/**
 * A self-contained picture of a trace: a row for each track and for the nesting of the host's
 * ranges, time to the right, the facts of each span in its tooltip.
 */
export function timelineSvg(data: TraceContent): string {
  const [first, last] = bounds(data);
  const total = Math.max(1, last - first);
  const scale: Scale = (ns) => labelWidth + ((ns - first) * (width - labelWidth - right)) / total;
  const tracks = tracksOf(data.spans);
  const hostRows = rowsOfHost(data.ranges, scale);
  const rows = [...hostRows, ...rowsOfTracks(tracks, hostRows.length, scale)];
  const bottom = top + rows.length * rowHeight;
  const height = bottom + legendHeight;
  const streams = [...new Set(tracks.map(({ stream }) => stream))];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11">`,
    `<title>Timeline, operations: ${data.spans.length}, streams: ${escapeXml(streams.join(', '))}</title>`,
    '<defs><marker id="wait" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto"><path d="M0 0L8 4L0 8z" fill="#444444"/></marker></defs>',
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...rows.map(background),
    ...(last > first ? axis(total, bottom, (ns) => scale(first + ns)) : []),
    ...rows.map(({ bars }) => bars),
    ...arrows(data, tracks, hostRows.length, scale),
    legend(bottom + 18, data),
    '</svg>',
  ].join('\n');
}

function bounds({ spans, ranges }: TraceContent): readonly [number, number] {
  let first = Infinity;
  let last = -Infinity;
  for (const { startNs, endNs } of [...spans, ...ranges]) {
    first = Math.min(first, startNs);
    last = Math.max(last, endNs);
  }
  return first <= last ? [first, last] : [0, 0];
}

function rowsOfTracks(tracks: readonly Track[], before: number, scale: Scale): readonly Row[] {
  const streams = [...new Set(tracks.map(({ stream }) => stream))];
  return tracks.map(({ name, stream, spans }, index) => {
    const y = top + (before + index) * rowHeight;
    const colour = streamColour(streams.indexOf(stream));
    return { label: name, y, bars: spans.map((span) => bar(span, y, colour, scale)).join('\n') };
  });
}

// Ranges of a thread nest: a row for each depth, but not for the deepest.
function rowsOfHost(ranges: readonly HostRange[], scale: Scale): readonly Row[] {
  const open: HostRange[] = [];
  const rows: { label: string; y: number; bars: string }[] = [];
  const order = (a: HostRange, b: HostRange) =>
    a.thread - b.thread || a.startNs - b.startNs || b.endNs - a.endNs;
  for (const range of ranges.toSorted(order)) {
    for (let outer = open.at(-1); outer && !contains(outer, range); outer = open.at(-1)) open.pop();
    const depth = open.push(range) - 1;
    if (depth >= mostHostRows) continue;
    const y = top + depth * rowHeight;
    rows[depth] ??= { label: depth === 0 ? 'host' : '', y, bars: '' };
    rows[depth].bars += drawBar(range, y, 'fill="#dddddd" stroke="#999999"', range.name, scale);
  }
  return rows;
}

function contains(outer: HostRange, inner: HostRange): boolean {
  return outer.thread === inner.thread && inner.startNs < outer.endNs;
}

function bar(span: TraceSpan, y: number, colour: string, scale: Scale): string {
  const dashes = span.programmatic ? ' stroke="#000000" stroke-dasharray="4 2"' : '';
  const style = `fill="${colour}" fill-opacity="${opacityOf(span.kind)}"${dashes}`;
  return drawBar(span, y, style, describe(span), scale);
}

function opacityOf(kind: string): number {
  if (kind === 'kernel' || kind === 'graph') return 1;
  return ['copy', 'fill', 'read', 'write'].includes(kind) ? 0.55 : 0.25;
}

function describe(span: TraceSpan): string {
  const { name, kind, grid, block, bytes, replay, node } = span;
  return [
    name,
    ...(kind === name ? [] : [kind]),
    ...(grid ? [`grid ${grid.join('×')}, block ${block?.join('×')}`] : []),
    ...(bytes === undefined ? [] : [`${bytes} bytes`]),
    ...(node === undefined ? [] : [`node ${node}`]),
    ...(replay === undefined ? [] : [`replay ${replay}`]),
  ].join(' · ');
}

function drawBar(
  { name, startNs, endNs }: { readonly name: string; startNs: number; endNs: number },
  y: number,
  style: string,
  facts: string,
  scale: Scale,
): string {
  const x = scale(startNs);
  const wide = Math.max(0.7, scale(endNs) - x);
  const text = wide < leastText ? '' : escapeXml(clip(name, wide - 6));
  const words = text ? `<text x="${(x + 3).toFixed(2)}" y="${y + 14}">${text}</text>` : '';
  return (
    `<g><title>${escapeXml(`${facts} · ${formatTime(endNs - startNs)}`)}</title>` +
    `<rect x="${x.toFixed(2)}" y="${y}" width="${wide.toFixed(2)}" height="${barHeight}" ${style}/>` +
    `${words}</g>`
  );
}

function background({ label, y }: Row): string {
  const wide = width - labelWidth - right;
  return (
    `<rect x="${labelWidth}" y="${y}" width="${wide}" height="${barHeight}" fill="#f4f4f4"/>` +
    `<text x="6" y="${y + 14}">${escapeXml(clip(label, labelWidth - 6))}</text>`
  );
}

function axis(totalNs: number, bottom: number, at: Scale): readonly string[] {
  const unit = unitOf(totalNs);
  return ticksOf(totalNs, 8).map((ns) => {
    const x = at(ns).toFixed(2);
    return (
      `<line x1="${x}" y1="${top - 8}" x2="${x}" y2="${bottom - 4}" stroke="#cccccc"/>` +
      `<text x="${x}" y="${top - 14}" text-anchor="middle">${formatTime(ns, unit)}</text>`
    );
  });
}

// With many waits the arrows would hide what they connect.
function arrows(
  { flows }: TraceContent,
  tracks: readonly Track[],
  before: number,
  scale: Scale,
): readonly string[] {
  if (flows.length > mostArrows) return [];
  const rows = new Map<TraceSpan, number>();
  for (const [index, { spans }] of tracks.entries()) {
    for (const span of spans) rows.set(span, top + (before + index) * rowHeight + barHeight / 2);
  }
  return flows.map(({ from, to }) => {
    const [y1, y2] = [rows.get(from) ?? 0, rows.get(to) ?? 0];
    const [x1, x2] = [scale(Math.min(from.endNs, to.startNs)), scale(to.startNs)];
    return `<line x1="${x1.toFixed(2)}" y1="${y1}" x2="${x2.toFixed(2)}" y2="${y2}" stroke="#444444" stroke-width="0.8" marker-end="url(#wait)"/>`;
  });
}

function legend(y: number, { ranges }: TraceContent): string {
  const entries = [
    ['kernel', 'fill="#777777"'],
    ['copy, fill, read, write', 'fill="#777777" fill-opacity="0.55"'],
    ['other', 'fill="#777777" fill-opacity="0.25"'],
    ['programmatic', 'fill="#ffffff" stroke="#000000" stroke-dasharray="4 2"'],
    ...(ranges.length > 0 ? [['host', 'fill="#dddddd" stroke="#999999"'] as const] : []),
  ] as const;
  let x = labelWidth;
  const parts = entries.map(([label, style]) => {
    const part =
      `<rect x="${x}" y="${y - 9}" width="16" height="10" ${style}/>` +
      `<text x="${x + 22}" y="${y}">${label}</text>`;
    x += 40 + Math.round(label.length * 6.2);
    return part;
  });
  const arrow = `<line x1="${x}" y1="${y - 4}" x2="${x + 16}" y2="${y - 4}" stroke="#444444" marker-end="url(#wait)"/>`;
  return `<g>${parts.join('')}${arrow}<text x="${x + 22}" y="${y}">wait</text></g>`;
}
