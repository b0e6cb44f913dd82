import { expect, test } from 'vitest';
import type { GraphEdge, GraphNode } from '../graph-node.js';
import { graphToDot } from './graph-dot.js';
import { graphToSvg } from './graph-svg.js';

const node = (id: number, kind: string, label: string, stream: string, more = {}): GraphNode => ({
  ...{ id, kind, label, stream, accesses: [], ...more },
});
const nodes = [
  node(0, 'fill', 'fill', 'main#12', { bytes: 4 }),
  node(1, 'kernel', 'gate "up"', 'main#12', { grid: [4, 2, 1], block: [256, 1, 1] }),
  node(2, 'kernel', 'down', 'main#13', { grid: [1, 1, 1], block: [8, 4, 2] }),
  node(3, 'empty', 'empty', ''),
];
const edges: readonly GraphEdge[] = [
  { from: 0, to: 1, type: 'full', port: 'completion' },
  { from: 1, to: 2, type: 'programmatic', port: 'programmatic' },
  { from: 1, to: 3, type: 'full', port: 'launch' },
];

test('DOT is stable: labels, colours by stream, edges by their kind', () => {
  expect(graphToDot({ nodes, edges })).toBe(`digraph graph_nodes {
  node [shape=box, style=filled, fontname=sans];
  label=<<table border="0" cellspacing="4"><tr><td bgcolor="#56b4e9">main</td><td bgcolor="#e69f00">main (2)</td></tr></table>>;
  n0 [label="fill", fillcolor="#56b4e9"];
  n1 [label="kernel · gate \\"up\\" · 4,2×256", fillcolor="#56b4e9"];
  n2 [label="kernel · down · 1×8,4,2", fillcolor="#e69f00"];
  n3 [label="empty", fillcolor="#ffffff"];
  n0 -> n1;
  n1 -> n2 [style=dashed, label="programmatic"];
  n1 -> n3 [style=dotted, label="launch"];
}
`);
});

test('the SVG marks edges that are not full, in words and by their line', () => {
  const svg = graphToSvg({ nodes, edges });
  expect(svg.match(/<line [^>]*stroke-dasharray="5 3"/g)).toHaveLength(1);
  expect(svg.match(/<line [^>]*stroke-dasharray="1 3"/g)).toHaveLength(1);
  expect(svg).toMatch(/>programmatic<\/text>[\s\S]*>launch<\/text>/);
  expect(svg.match(/<line /g)).toHaveLength(3);
});

test('DOT with accesses and from left to right', () => {
  const accesses = [
    { buffer: 'x', mode: 'r', begin: 0, end: 16 },
    { buffer: '', mode: 'rw', begin: 4, end: 8 },
  ] as const;
  const graph = { nodes: [node(0, 'copy', 'copy', '', { accesses })], edges: [] };
  const dot = graphToDot(graph, { accesses: true, rankdir: 'LR' });
  expect(dot).toContain('  rankdir=LR;\n');
  expect(dot).toContain('n0 [label="copy\\nr x [0, 16)\\nrw unnamed [4, 8)", fillcolor');
  expect(graphToDot(graph)).not.toMatch(/rankdir|unnamed/);
  expect(() => graphToDot(graph, { rankdir: 'RL' as 'LR' })).toThrow(/`rankdir` is RL/);
});
