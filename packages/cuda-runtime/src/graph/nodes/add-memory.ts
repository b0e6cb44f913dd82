import { wrongKind } from '../../arguments/faults.js';
import type { DeviceBuffer } from '../../contract.js';
import { ArgumentError } from '../../errors/argument-error.js';
import { describeValue } from '../../errors/describe-value.js';
import { NativeBuffer } from '../../memory/buffer.js';
import { checkFreesAll, GraphBuffer } from '../../memory/graph-buffer.js';
import { environment } from '../../native/environment.js';
import { guarded } from '../../native/guarded.js';
import type { GraphNode } from '../graph-node.js';
import type { GraphTarget } from './graph-target.js';
import { nodeIds } from './node-owner.js';

/** `graph.addAlloc`: the id of the node, and the memory. */
export function addAlloc(
  graph: GraphTarget,
  bytes: number,
  label: string,
  after: readonly GraphNode[] | undefined,
): { readonly id: number; readonly buffer: DeviceBuffer } {
  const api = 'graph.addAlloc';
  if (!Number.isSafeInteger(bytes) || bytes < 0) {
    throw wrongKind(api, 'bytes', bytes, 'a non-negative integer below 2^53');
  }
  if (typeof label !== 'string') throw wrongKind(api, 'label', label, 'text');
  const ids = nodeIds(api, graph.owner, after);
  const { binding } = environment();
  const { node, buffer } = guarded(() => binding.graphAddAlloc(graph.use(api), bytes, label, ids));
  return { id: node, buffer: new GraphBuffer(graph.device, buffer, bytes, label) };
}

/** `graph.addFree`. */
export function addFree(
  graph: GraphTarget,
  buffer: DeviceBuffer,
  after: readonly GraphNode[] | undefined,
): number {
  const api = 'graph.addFree';
  const whole = buffer instanceof NativeBuffer ? buffer.whole : buffer;
  if (!(whole instanceof GraphBuffer)) {
    const detail = `\`buffer\` is ${describeValue(buffer)}, expected a buffer of \`graph.addAlloc\``;
    throw new ArgumentError({ api, number: 1, detail });
  }
  checkFreesAll(api, 'buffer', buffer, whole);
  const ids = nodeIds(api, graph.owner, after);
  const { binding } = environment();
  const id = guarded(() => binding.graphAddFree(graph.use(api), buffer.use(api), ids));
  whole.freeBy(graph);
  return id;
}
