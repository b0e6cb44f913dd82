import { wrongKind } from '../../arguments/faults.js';
import { ArgumentError } from '../../errors/argument-error.js';
import type { GraphNode } from '../graph-node.js';

interface Owned {
  readonly graph: object;
  readonly id: number;
}

// Nodes are plain data; whose they are, and which, is kept beside them.
const owners = new WeakMap<GraphNode, Owned>();

/** Marks `node` as one of the graph that `graph` stands for. */
export function ownNode(graph: object, node: GraphNode): GraphNode {
  owners.set(node, { graph, id: node.id });
  return node;
}

/** The id of a node of `graph`. @throws ArgumentError for other graphs' nodes and other values */
export function nodeId(api: string, argument: string, graph: object, node: GraphNode): number {
  const owned = typeof node === 'object' && node !== null ? owners.get(node) : undefined;
  if (owned === undefined) throw wrongKind(api, argument, node, 'a node of this graph');
  if (owned.graph !== graph) {
    const detail = `\`${argument}\` is a node of another graph (${node.kind} ${owned.id})`;
    throw new ArgumentError({ api, number: 1, detail, hint: 'Use nodes of this graph' });
  }
  if (node.id !== owned.id) throw wrongKind(api, `${argument}.id`, node.id, `its own, ${owned.id}`);
  return owned.id;
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
