import { clip, escapeXml, streamColour } from '../svg-text.js';
import type { TraceSpan } from './trace-span.js';

const width = 960;
const labelWidth = 110;
const rowHeight = 34;
const top = 28;

/** A self-contained picture of a trace: one row a stream, time to the right. */
export function timelineSvg(spans: readonly TraceSpan[]): string {
  const streams = [...new Set(spans.map(({ stream }) => stream))];
  const first = spans.reduce((least, { startNs }) => Math.min(least, startNs), Infinity);
  const last = spans.reduce((most, { endNs }) => Math.max(most, endNs), -Infinity);
  const scale = (width - labelWidth - 10) / Math.max(1, last - first);
  const at = (ns: number) => labelWidth + (ns - first) * scale;
  const height = top + streams.length * rowHeight + 10;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="${width}" height="${height}" font-family="sans-serif" font-size="11">`,
    `<title>Timeline, operations: ${spans.length}, streams: ${escapeXml(streams.join(', '))}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...streams.map((stream, row) => rowLabel(stream, row)),
    ...spans.map((span) => bar(span, streams.indexOf(span.stream), at)),
    ...(spans.length > 0 ? [axis(last - first)] : []),
    '</svg>',
  ];
  return parts.join('\n');
}

function rowLabel(stream: string, row: number): string {
  const y = top + row * rowHeight;
  return (
    `<rect x="${labelWidth}" y="${y}" width="${width - labelWidth - 10}" height="${rowHeight - 6}" fill="#f4f4f4"/>` +
    `<text x="6" y="${y + 18}">${escapeXml(clip(stream, labelWidth))}</text>`
  );
}

function bar(span: TraceSpan, row: number, at: (ns: number) => number): string {
  const x = at(span.startNs);
  const wide = Math.max(1, at(span.endNs) - x);
  const y = top + row * rowHeight;
  const us = ((span.endNs - span.startNs) / 1000).toFixed(1);
  const name = escapeXml(clip(span.name, wide - 6));
  return (
    `<g><title>${escapeXml(span.name)} · ${us} µs</title>` +
    `<rect x="${x.toFixed(2)}" y="${y + 2}" width="${wide.toFixed(2)}" height="${rowHeight - 10}" rx="2" fill="${streamColour(row)}"/>` +
    `<text x="${(x + 3).toFixed(2)}" y="${y + 18}">${name}</text></g>`
  );
}

function axis(totalNs: number): string {
  const total = (totalNs / 1000).toFixed(1);
  return (
    `<text x="${labelWidth}" y="16">0 µs</text>` +
    `<text x="${width - 10}" y="16" text-anchor="end">${total} µs</text>`
  );
}
