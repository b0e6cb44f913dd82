/** What `runtime.describe()` tells: the choice of the backend and what it runs with. */
export interface RuntimeReport {
  readonly backend: 'cpu' | 'cuda';
  /** Why this backend: asked for, or found usable, or what the fallback was for. */
  readonly why: string;
  readonly guards: boolean;
  /**
   * Whether kernels that a stream starts often are launched as graphs of one node, and who says so.
   */
  readonly launchByGraph: { readonly on: boolean; readonly why: string };
  /** Names of the devices. */
  readonly devices: readonly string[];
  /** Manifests loaded so far. */
  readonly modules: readonly string[];
  /** What the native side reports: on the CPU level, threads, schedule. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** How often something took how long. */
export interface LatencyHistogram {
  /** Upper bounds in microseconds, ascending; the last class has none. */
  readonly boundsUs: readonly number[];
  /** One more than bounds. */
  readonly counts: readonly number[];
}

/**
 * What a stream can be given: `kernel` one by one, `graph` a launch of an executable, whose nodes
 * do not count; `host` native functions, `notify` calls into JavaScript.
 */
export type LaunchKind =
  | 'kernel'
  | 'copy'
  | 'fill'
  | 'write'
  | 'read'
  | 'notify'
  | 'host'
  | 'graph';

/** Counters of a runtime, as the native side keeps them. */
export interface RuntimeStats {
  /** Objects alive by kind (`buffer`, `stream`, `graph`, …), held by JavaScript or by work. */
  readonly live: Readonly<Record<string, number>>;
  /** Bytes of device memory that buffers have; on the CPU backend host buffers count, too. */
  readonly bytesInUse: number;
  /** The most that `bytesInUse` has been. */
  readonly bytesPeak: number;
  /**
   * Operations submitted to streams, a launch of a graph counting as one: the sum of `launches`.
   */
  readonly operations: number;
  /**
   * The same by kind, since the runtime was opened, of all threads; what a capture records is not.
   */
  readonly launches: Readonly<Record<LaunchKind, number>>;
  /** Launches of graphs: `launches.graph`. */
  readonly replays: number;
  /** Calls that a guard refused, by the row of the capture table, e.g. `{ CU01: 2 }`. */
  readonly guardRefusals: Readonly<Record<string, number>>;
  /** Updates of executables that were refused, by `UpdateReport.result`, e.g. `{ 2: 1 }`. */
  readonly updateFailures: Readonly<Record<string, number>>;
  /** Bytes of freed memory kept for the next allocation. */
  readonly bytesCached?: number;
  /** CUDA backend: pinned memory that `write` and `read` pass through. */
  readonly stagingBytes?: number;
  /** CPU backend: programmatic launches whose kernel never waited. */
  readonly kernelsWithoutWait?: number;
  /** CPU backend: the latest of these kernels, '' without one. */
  readonly kernelWithoutWait?: string;
  /** CPU backend: threads that run operations. */
  readonly executorThreads?: number;
  /** CPU backend: threads started for the parallel loops of kernels. */
  readonly parallelThreads?: number;
  /**
   * CUDA backend: launches of kernels through a graph of one node, of the device in this process.
   */
  readonly launchesByGraph?: number;
  /** CUDA backend: objects that wait to be destroyed by the reaper thread. */
  readonly reaperQueue?: number;
  /** CUDA backend: from when a point was reached to when its waiter thread saw it. */
  readonly waiterLatency?: LatencyHistogram;
  /**
   * Callbacks of this thread for `stream.notify`, `graph.addNotify` and notifications of captures
   * that were not called, since the work before them failed; one for each launch. On CUDA those of
   * graphs are not counted: a lost device does not say which of them it had reached.
   */
  readonly droppedNotifications: number;
  /** Completions of this thread, of all its runtimes, that arrived after their owner was gone. */
  readonly droppedCompletions: number;
}
