import { streamColour } from '../svg-text.js';
import type { GraphEdge, GraphNode } from './graph-node.js';

/** Graphviz text of a graph; nodes of one stream share a colour and a cluster. */
export function graphToDot(graph: {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}): string {
  const streams = [...new Set(graph.nodes.map(({ stream }) => stream))];
  const lines = ['digraph graph_nodes {', '  node [shape=box, style=filled, fontname=sans];'];
  for (const [index, stream] of streams.entries()) {
    lines.push(`  subgraph cluster_${index} {`, `    label=${quote(`stream ${stream}`)};`);
    for (const node of graph.nodes.filter((candidate) => candidate.stream === stream)) {
      const label = quote(`${node.id}: ${node.label || node.kind}`);
      lines.push(`    n${node.id} [label=${label}, fillcolor=${quote(streamColour(index))}];`);
    }
    lines.push('  }');
  }
  for (const edge of graph.edges) {
    const style = edge.type === 'full' ? '' : ` [style=dashed, label=${quote(edge.type)}]`;
    lines.push(`  n${edge.from} -> n${edge.to}${style};`);
  }
  lines.push('}');
  return `${lines.join('\n')}\n`;
}

function quote(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
