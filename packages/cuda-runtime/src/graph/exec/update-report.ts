import type { NativeUpdate } from '../../native/binding.js';
import type { GraphNode } from '../graph-node.js';

/** What came of `exec.update`. */
export interface UpdateReport {
  readonly ok: boolean;
  /** Of a refusal, which throws nothing: as the `code` of an error. */
  readonly code?: 'CRT_GRAPH_UPDATE';
  /** CUDA's number: 0 success, 2 topology, 3 kind, 5 parameters changed, 6 not supported. */
  readonly result: number;
  /** The node of the new graph that differs, where it is one. */
  readonly node?: GraphNode;
  /** Where its edges differ: the other end of one. */
  readonly fromNode?: GraphNode;
  /** What differs and what to do; empty when all went well. */
  readonly detail: string;
}

/** The report of the addon with nodes instead of their ids. */
export function updateReport(native: NativeUpdate, nodes: readonly GraphNode[]): UpdateReport {
  const node = native.node === undefined ? undefined : nodes[native.node];
  const fromNode = native.fromNode === undefined ? undefined : nodes[native.fromNode];
  const ok = native.result === 0;
  const what = node ? `node ${node.id} (${node.label}) ` : '';
  return {
    ok,
    ...(ok ? {} : { code: 'CRT_GRAPH_UPDATE' as const }),
    result: native.result,
    ...(node ? { node } : {}),
    ...(fromNode ? { fromNode } : {}),
    detail: ok ? '' : `${what}${native.detail}; instantiate the new graph instead`,
  };
}
