import { streamColour } from '../../svg-text.js';
import type { GraphEdge, GraphNode } from '../graph-node.js';

/** `kernel · add · 4×256` (grid×block), without the parts that a node has not. */
export function nodeLabel({ kind, label, conditional, grid, block }: GraphNode): string {
  const shape = grid && block ? `${dims(grid)}×${dims(block)}` : '';
  return [conditional ?? kind, label === kind ? '' : label, shape]
    .filter((part) => part !== '')
    .join(' · ');
}

// `4` for 4, 1, 1; `4,2` for 4, 2, 1.
function dims([x = 1, y = 1, z = 1]: readonly number[]): string {
  if (z > 1) return `${x},${y},${z}`;
  return y > 1 ? `${x},${y}` : `${x}`;
}

/** A node's statement: its id behind `prefix`, its label, the colour of its stream. */
export function dotNode(node: GraphNode, stream: number, prefix: string): string {
  const colour = node.stream === '' ? '#ffffff' : streamColour(stream);
  return `${prefix}${node.id} [label=${quote(nodeLabel(node))}, fillcolor=${quote(colour)}];`;
}

/**
 * An edge's statement: solid = complete before the next starts, dashed = programmatic, with the port,
 * dotted = when all blocks have started.
 */
export function dotEdge({ from, to, type, port }: GraphEdge, prefix: string): string {
  const style = edgeStyle({ type, port });
  const more = style === 'solid' ? '' : ` [style=${style}, label=${quote(port)}]`;
  return `${prefix}${from} -> ${prefix}${to}${more};`;
}

/** How an edge is drawn. */
export function edgeStyle({ type, port }: Pick<GraphEdge, 'type' | 'port'>): EdgeStyle {
  if (port === 'launch') return 'dotted';
  return type === 'programmatic' ? 'dashed' : 'solid';
}

/** A line style of Graphviz. */
export type EdgeStyle = 'solid' | 'dashed' | 'dotted';

/** A DOT string. */
export function quote(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
