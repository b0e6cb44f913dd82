import { wrongKind } from '../../arguments/faults.js';
import type { Handle } from '../../native/binding.js';
import { environment } from '../../native/environment.js';
import { guardedAs } from '../../native/guarded.js';
import { Condition } from '../condition.js';
import type { GraphNode } from '../graph-node.js';
import type { GraphTarget } from './graph-target.js';
import { nodeIds } from './node-owner.js';

const types = { 'graph.addIf': 0, 'graph.addWhile': 1, 'graph.addSwitch': 2 } as const;

/** A conditional node: its id, and the handles of its bodies. */
export function addConditional(
  graph: GraphTarget,
  api: keyof typeof types,
  request: { readonly condition: Condition; readonly bodies: number },
  after: readonly GraphNode[] | undefined,
): { readonly id: number; readonly graphs: readonly Handle[] } {
  const { condition, bodies } = request;
  if (!(condition instanceof Condition)) {
    throw wrongKind(api, 'condition', condition, 'a condition of `graph.createCondition`');
  }
  if (!Number.isInteger(bodies) || bodies < 1 || bodies > 65_536) {
    throw wrongKind(api, 'cases', bodies, 'an integer from 1 to 65536');
  }
  const ids = nodeIds(api, graph.owner, after);
  const { binding } = environment();
  const { node, bodies: graphs } = guardedAs(api, () =>
    binding.graphAddConditional(graph.use(api), condition.use(api), types[api], bodies, ids),
  );
  return { id: node, graphs };
}
