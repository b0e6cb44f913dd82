import { printable, streamColour } from '../../svg-text.js';
import type { GraphAccess, GraphEdge, GraphNode } from '../graph-node.js';

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
export function dotNode(
  node: GraphNode,
  drawn: { readonly stream: number; readonly prefix: string; readonly accesses: boolean },
): string {
  const { stream, prefix, accesses } = drawn;
  const label = accesses ? [nodeLabel(node), ...node.accesses.map(accessLine)] : [nodeLabel(node)];
  const colour = node.stream === '' ? '#ffffff' : streamColour(stream);
  return `${prefix}${node.id} [label=${quoteLines(label)}, fillcolor=${quote(colour)}];`;
}

function accessLine({ mode, buffer, begin, end }: GraphAccess): string {
  return `${mode} ${buffer === '' ? 'unnamed' : buffer} [${begin}, ${end})`;
}

/**
 * An edge's statement: solid = complete before the next starts, dashed = programmatic, with the
 * port, dotted = when all blocks have started.
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
  return quoteLines([text]);
}

// One line below the other.
function quoteLines(lines: readonly string[]): string {
  const escaped = lines.map((text) =>
    printable(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"'),
  );
  return `"${escaped.join('\\n')}"`;
}
