import { wrongKind } from '../../arguments/faults.js';
import { ArgumentError } from '../../errors/argument-error.js';
import type { GraphNode } from '../graph-node.js';

// Nodes are plain data; whose they are is kept beside them.
const owners = new WeakMap<GraphNode, object>();

/** Marks `node` as one of the graph that `graph` stands for. */
export function ownNode(graph: object, node: GraphNode): GraphNode {
  owners.set(node, graph);
  return node;
}

/** The id of a node of `graph`. @throws ArgumentError for other graphs' nodes and other values */
export function nodeId(api: string, argument: string, graph: object, node: GraphNode): number {
  const owner = typeof node === 'object' && node !== null ? owners.get(node) : undefined;
  if (owner === graph) return node.id;
  if (owner === undefined) throw wrongKind(api, argument, node, 'a node of this graph');
  const detail = `\`${argument}\` is a node of another graph (${node.kind} ${node.id})`;
  throw new ArgumentError({ api, number: 1, detail, hint: 'Use nodes of this graph' });
}

/** The ids of `after`. @throws ArgumentError */
export function nodeIds(
  api: string,
  graph: object,
  after: readonly GraphNode[] = [],
): Uint32Array<ArrayBuffer> {
  if (!Array.isArray(after)) throw wrongKind(api, 'after', after, 'an array of nodes');
  return Uint32Array.from(after, (node) => nodeId(api, 'after', graph, node));
}
