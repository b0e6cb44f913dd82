/**
 * One operation that ran while the trace was on. Times are nanoseconds of the host's steady clock.
 */
export interface TraceSpan {
  /** Kernel name, or what kind of operation it is. */
  readonly name: string;
  /** `kernel`, `copy`, `fill`, …; `graph` for a launch that was traced as a whole. */
  readonly kind: string;
  /** `name#id` of the stream; of a graph's node the one it was captured on, empty if none was. */
  readonly stream: string;
  /** Of the CPU backend: the thread that ran it. */
  readonly thread: number | string;
  readonly startNs: number;
  readonly endNs: number;
  /** Counts submissions of the process: of the operation, or of the launch of its graph. */
  readonly operation: number;
  /** Kernels only: blocks, and threads of a block, in x, y, z. */
  readonly grid?: readonly number[];
  readonly block?: readonly number[];
  /** Copies, fills, reads and writes only. */
  readonly bytes?: number;
  /** The kernel may start before its predecessor has ended. */
  readonly programmatic?: boolean;
  /** Id of the graph; absent outside graphs, as are the following. */
  readonly graph?: number;
  /** Id of the capture that recorded the graph, if one did. */
  readonly captureId?: number;
  /** Number of the launch of that executable, from 1. */
  readonly replay?: number;
  /** Id of the node in its graph. */
  readonly node?: number;
}

/** What the calling thread did: a `nvtx.range`, a capture, a launch call. Ranges nest. */
export interface HostRange {
  readonly name: string;
  readonly startNs: number;
  readonly endNs: number;
  /** Id of the worker, 0 for the main thread. */
  readonly thread: number;
}

/** A capture began, ended or was given up. */
export interface CaptureMark {
  readonly phase: 'begin' | 'end' | 'abort';
  readonly stream: string;
  readonly captureId: number;
  readonly ns: number;
}

/** Bytes of live buffers after an allocation or a release. */
export interface MemorySample {
  readonly ns: number;
  readonly place: 'device' | 'host';
  readonly bytes: number;
}

/** `to` waited for `from`, on another stream. */
export interface TraceFlow {
  readonly from: TraceSpan;
  readonly to: TraceSpan;
}

/** What is not in a trace, and how good its times are. */
export interface TraceLosses {
  /** Operations that were not complete when the trace was stopped: synchronise first. */
  readonly runningAtStop: number;
  /** Launches of graphs that ran untraced, since all eight traced copies were under way. */
  readonly untracedLaunches: number;
  /**
   * By how much the device's clock ran ahead of the host's between start and stop; null when a busy
   * device did not answer within 3 ms.
   */
  readonly driftNs: number | null;
}

/** What a trace consists of. */
export interface TraceContent {
  readonly spans: readonly TraceSpan[];
  readonly flows: readonly TraceFlow[];
  readonly ranges: readonly HostRange[];
  readonly captures: readonly CaptureMark[];
  readonly memory: readonly MemorySample[];
  readonly losses: TraceLosses;
}
