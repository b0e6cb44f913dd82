/** A byte range that a node reads or writes. */
export interface GraphAccess {
  /** Label of the buffer. */
  readonly buffer: string;
  readonly mode: 'r' | 'w' | 'rw';
  /** First byte. */
  readonly begin: number;
  /** Just behind the last byte. */
  readonly end: number;
}

/** One operation of a graph. */
export interface GraphNode {
  readonly id: number;
  /** `kernel`, `copy`, `fill`, `event-record`, … */
  readonly kind: string;
  readonly label: string;
  /** `name#id` of the stream that it was captured on; the driver forgets it, we keep it. */
  readonly stream: string;
  /** Kernels only: blocks and threads of a block in x, y, z. */
  readonly grid?: readonly number[];
  readonly block?: readonly number[];
  /** Copies and fills only. */
  readonly bytes?: number;
  readonly accesses: readonly GraphAccess[];
}

/** `to` starts after `from`: completely (`full`) or when it triggers (`programmatic`). */
export interface GraphEdge {
  readonly from: number;
  readonly to: number;
  readonly type: 'full' | 'programmatic';
  readonly port: 'completion' | 'programmatic' | 'launch';
}
