/** One operation that ran while the trace was on. Times are nanoseconds of a steady clock. */
export interface TraceSpan {
  readonly name: string;
  readonly kind: string;
  /** Stream on which it ran; inside a graph, the stream on which it was captured. */
  readonly stream: string;
  readonly thread: number | string;
  readonly startNs: number;
  readonly endNs: number;
  /** Id of the graph; 0 or absent outside graphs. */
  readonly graph?: number;
  /** Id of the node in its graph. */
  readonly node?: number;
  /** Number of the launch of that graph. */
  readonly launch?: number;
}
