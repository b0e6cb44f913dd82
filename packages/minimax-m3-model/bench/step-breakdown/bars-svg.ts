// The kernels of a step as bars, longest first.
import type { StepBreakdown } from './break-down.js';

const most = 24;
const size = { width: 860, left: 430, right: 110, top: 44, row: 20 };

/** A self-contained picture. */
export function barsSvg({ what, size: of, stepUs, kernels }: StepBreakdown): string {
  const shown = kernels.slice(0, most);
  const traced = kernels.reduce((sum, { us }) => sum + us, 0);
  const longest = Math.max(...shown.map(({ us }) => us), 1);
  const height = size.top + shown.length * size.row + 12;
  const title =
    `${what} ${of}: ${(stepUs / 1000).toFixed(2)} ms a step, ` +
    `${(traced / 1000).toFixed(2)} ms in traced kernels`;
  const scale = (size.width - size.left - size.right) / longest;
  const bars = shown.flatMap(({ name, launches, us }, i) => {
    const y = size.top + i * size.row;
    const width = Math.max(1, us * scale);
    const middle = y + size.row - 7;
    return [
      text(size.left - 8, middle, `${launches} × ${name}`, 'text-anchor="end"'),
      `<rect x="${size.left}" y="${y + 3}" width="${width.toFixed(1)}" height="14" fill="#1f6feb"/>`,
      text(size.left + width + 6, middle, `${us.toFixed(1)} µs`, ''),
    ];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${height}" font-family="system-ui, sans-serif" font-size="12">`,
    '<rect width="100%" height="100%" fill="#ffffff"/>',
    text(12, 24, title, 'font-weight="600" font-size="14"'),
    ...bars,
    '</svg>\n',
  ].join('\n');
}

function text(x: number, y: number, content: string, attributes: string): string {
  const safe = content.replace(/&/g, '&amp;').replace(/</g, '&lt;');
  return `<text x="${x.toFixed(1)}" y="${y}" ${attributes}>${safe}</text>`;
}
