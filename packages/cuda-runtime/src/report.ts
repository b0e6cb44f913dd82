/** What `runtime.describe()` tells: the choice of the backend and what it runs with. */
export interface RuntimeReport {
  readonly backend: 'cpu' | 'cuda';
  /** Why this backend: asked for, or found usable, or what the fallback was for. */
  readonly why: string;
  readonly guards: boolean;
  /** Names of the devices. */
  readonly devices: readonly string[];
  /** Manifests loaded so far. */
  readonly modules: readonly string[];
  /** What the native side reports: on the CPU level, threads, schedule. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** Counters of a runtime, as the native side keeps them. */
export interface RuntimeStats {
  /** Objects alive by kind (`buffer`, `stream`, `graph`, …), held by JavaScript or by work. */
  readonly live: Readonly<Record<string, number>>;
  readonly bytesInUse: number;
  readonly bytesPeak: number;
  readonly operations: number;
  readonly graphLaunches: number;
  /** CPU backend: bytes of freed memory kept for the next allocation. */
  readonly bytesCached?: number;
  /** CPU backend: programmatic launches whose kernel never waited. */
  readonly kernelsWithoutWait?: number;
  /** CPU backend: threads that run operations. */
  readonly executorThreads?: number;
  /** CPU backend: threads started for the parallel loops of kernels. */
  readonly parallelThreads?: number;
  /** Completions that arrived after their owner was gone. */
  readonly droppedCompletions: number;
}
