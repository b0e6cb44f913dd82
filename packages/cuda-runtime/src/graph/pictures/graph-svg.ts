import { clip, escapeXml, streamColour } from '../../svg-text.js';
import type { GraphEdge, GraphNode } from '../graph-node.js';
import { edgeStyle, nodeLabel } from './dot-format.js';

const columnWidth = 210;
const boxWidth = 170;
const boxHeight = 30;
const rowHeight = 56;
const top = 44;

interface Placed {
  readonly x: number;
  readonly y: number;
  readonly column: number;
  readonly node: GraphNode;
}

interface Column {
  readonly left: number;
  /** In boxes. */
  readonly width: number;
  readonly lanes: ReadonlyMap<GraphNode, number>;
}

/** A self-contained picture of a graph: one coloured column a stream, dependencies downwards. */
export function graphToSvg(graph: {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}): string {
  const rows = rowsOf(graph.nodes, graph.edges);
  const columns = columnsOf(graph.nodes, rows);
  const streams = [...columns.keys()];
  const placed = new Map<number, Placed>();
  for (const [column, { left, lanes }] of [...columns.values()].entries()) {
    for (const [node, lane] of lanes) {
      const x = left + lane * columnWidth;
      placed.set(node.id, { node, column, x, y: top + (rows.get(node.id) ?? 0) * rowHeight });
    }
  }
  const deepest = [...rows.values()].reduce((most, row) => Math.max(most, row), 0);
  const lanes = [...columns.values()].reduce((sum, { width }) => sum + width, 0);
  const width = 20 + Math.max(1, lanes) * columnWidth;
  const height = top + (deepest + 1) * rowHeight + 10;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="${width}" height="${height}" font-family="sans-serif" font-size="11">`,
    `<title>Graph, operations: ${graph.nodes.length}, streams: ${escapeXml(streams.join(', '))}</title>`,
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#444444"/></marker></defs>',
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...[...columns].map(([stream, { left }]) => heading(stream, left)),
    ...graph.edges.map((edge) => arrow(edge, placed)),
    ...[...placed.values()].map(box),
    '</svg>',
  ].join('\n');
}

// Longest path from a root, so that every arrow points downwards.
function rowsOf(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): Map<number, number> {
  const rows = new Map<number, number>(nodes.map(({ id }) => [id, 0]));
  for (let round = 0; round < nodes.length; round += 1) {
    let isStable = true;
    for (const { from, to } of edges) {
      const least = (rows.get(from) ?? 0) + 1;
      if ((rows.get(to) ?? 0) < least) {
        rows.set(to, least);
        isStable = false;
      }
    }
    if (isStable) break;
  }
  return rows;
}

// A column is as wide as the most of its nodes that share a row: explicit nodes have no stream, and
// those that nothing orders lie side by side.
function columnsOf(
  nodes: readonly GraphNode[],
  rows: ReadonlyMap<number, number>,
): ReadonlyMap<string, Column> {
  const byStream = new Map<string, Map<GraphNode, number>>();
  const taken = new Map<string, number>();
  for (const node of nodes) {
    const place = `${rows.get(node.id) ?? 0} ${node.stream}`;
    const lane = taken.get(place) ?? 0;
    taken.set(place, lane + 1);
    byStream.set(node.stream, (byStream.get(node.stream) ?? new Map()).set(node, lane));
  }
  let left = 20;
  const columns = new Map<string, Column>();
  for (const [stream, lanes] of byStream) {
    const width = [...lanes.values()].reduce((most, lane) => Math.max(most, lane + 1), 1);
    columns.set(stream, { left, width, lanes });
    left += width * columnWidth;
  }
  return columns;
}

function heading(stream: string, left: number): string {
  const x = left + boxWidth / 2;
  return `<text x="${x}" y="22" text-anchor="middle" font-weight="bold">${escapeXml(clip(stream, boxWidth))}</text>`;
}

function box({ node, x, y, column }: Placed): string {
  const label = escapeXml(clip(`${node.id} ${node.label || node.kind}`, boxWidth - 10));
  return (
    `<g><title>${escapeXml(nodeLabel(node))}</title>` +
    `<rect x="${x}" y="${y}" width="${boxWidth}" height="${boxHeight}" rx="4" fill="${streamColour(column)}" stroke="#444444"/>` +
    `<text x="${x + boxWidth / 2}" y="${y + 19}" text-anchor="middle">${label}</text></g>`
  );
}

function arrow(edge: GraphEdge, placed: ReadonlyMap<number, Placed>): string {
  const from = placed.get(edge.from);
  const to = placed.get(edge.to);
  if (!from || !to) return '';
  const style = edgeStyle(edge);
  const dash = style === 'solid' ? '' : ` stroke-dasharray="${style === 'dashed' ? '5 3' : '1 3'}"`;
  const words = style === 'solid' ? '' : portName(edge, from, to);
  return `${words}<line x1="${from.x + boxWidth / 2}" y1="${from.y + boxHeight}" x2="${to.x + boxWidth / 2}" y2="${to.y}" stroke="#444444"${dash} marker-end="url(#tip)"/>`;
}

// Beside the middle of the arrow, so that it is seen without colours and tooltips.
function portName(edge: GraphEdge, from: Placed, to: Placed): string {
  const x = (from.x + to.x + boxWidth) / 2 + 5;
  const y = (from.y + boxHeight + to.y) / 2 + 3;
  return `<text x="${x}" y="${y}" font-size="9" fill="#444444">${edge.port}</text>`;
}
