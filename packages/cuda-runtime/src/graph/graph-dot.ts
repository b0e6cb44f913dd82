import { escapeXml, streamColour } from '../svg-text.js';
import { dotEdge, dotNode } from './dot-format.js';
import type { GraphEdge, GraphNode } from './graph-node.js';

/**
 * Graphviz text of a graph: the same for the same program, on both backends and in every run. Nodes
 * of one stream share a colour, which the graph's label explains.
 */
export function graphToDot(graph: {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}): string {
  const streams = [...new Set(graph.nodes.map(({ stream }) => stream))];
  return [
    'digraph graph_nodes {',
    '  node [shape=box, style=filled, fontname=sans];',
    ...legend(streams),
    ...graph.nodes.map((node) => `  ${dotNode(node, streams.indexOf(node.stream))}`),
    ...graph.edges.map((edge) => `  ${dotEdge(edge)}`),
    '}\n',
  ].join('\n');
}

// Ids of streams differ from run to run: a name has a number only where two streams share it.
function legend(streams: readonly string[]): readonly string[] {
  const seen = new Map<string, number>();
  const cells = streams.flatMap((stream, index) => {
    if (stream === '') return [];
    const name = stream.replace(/#\d+$/, '');
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    const text = escapeXml(count === 1 ? name : `${name} (${count})`);
    return [`<td bgcolor="${streamColour(index)}">${text}</td>`];
  });
  if (cells.length === 0) return [];
  return [`  label=<<table border="0" cellspacing="4"><tr>${cells.join('')}</tr></table>>;`];
}
