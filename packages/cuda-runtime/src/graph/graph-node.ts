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
  /** Place in `graph.nodes`. */
  readonly id: number;
  /**
   * `kernel`, `copy`, `fill`, `empty`, `host`, `child`, `conditional`, `alloc`, `event-record`, …
   */
  readonly kind: string;
  readonly label: string;
  /**
   * `name#id` of the stream that it was captured on, else empty; the driver forgets it, we keep it.
   */
  readonly stream: string;
  /** Kernels only: blocks and threads of a block in x, y, z. */
  readonly grid?: readonly number[];
  readonly block?: readonly number[];
  /** Copies, fills and memory nodes only. */
  readonly bytes?: number;
  /** Child nodes only: the copy. */
  readonly child?: GraphJson;
  /** Conditional nodes only. */
  readonly conditional?: 'if' | 'if-else' | 'while' | 'switch';
  readonly bodies?: readonly GraphJson[];
  readonly accesses: readonly GraphAccess[];
}

/** When an edge lets `to` start. */
export interface EdgeOptions {
  /**
   * `full`: `from` is over; `programmatic`: it triggered, and `to` waits on the device for the
   * rest.
   */
  readonly type?: 'full' | 'programmatic';
  /** `launch`: all blocks of `from` have started. Default: the one of the type. */
  readonly port?: 'completion' | 'programmatic' | 'launch';
}

/** `to` starts after `from`: completely (`full`) or when it triggers (`programmatic`). */
export interface GraphEdge {
  readonly from: number;
  readonly to: number;
  readonly type: 'full' | 'programmatic';
  readonly port: 'completion' | 'programmatic' | 'launch';
}

/** Plain data of a graph. */
export interface GraphJson {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}
