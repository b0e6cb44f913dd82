/** Memory that a node reads or writes. */
export interface GraphAccess {
  readonly buffer: string;
  readonly access: string;
  readonly offset: number;
  readonly bytes: number;
}

/** One operation of a graph. */
export interface GraphNode {
  readonly id: number;
  /** `kernel`, `copy`, `fill`, `event-record`, … */
  readonly kind: string;
  readonly label: string;
  /** Name of the stream that it was captured on; the driver forgets it, we keep it. */
  readonly stream: string;
  readonly accesses: readonly GraphAccess[];
}

/** `to` starts after `from`: completely (`full`) or when it triggers (`programmatic`). */
export interface GraphEdge {
  readonly from: number;
  readonly to: number;
  readonly type: string;
  readonly port: string | number;
}
