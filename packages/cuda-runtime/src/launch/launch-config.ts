import type { Event } from '../stream/event.js';

/** Sizes in x, y, z; what is missing is 1. */
export type Dim3 =
  | readonly [x: number, y?: number, z?: number]
  | { readonly x: number; readonly y?: number; readonly z?: number };

/** How a kernel is started. */
export interface LaunchConfig {
  /** Blocks. */
  readonly grid: Dim3;
  /** Threads of a block. */
  readonly block: Dim3;
  /**
   * Dynamic shared memory in bytes, default 0; at most what the static one of the kernel leaves.
   */
  readonly sharedBytes?: number;
  /** Blocks of a cluster, at most 8; divides the grid. */
  readonly cluster?: Dim3;
  /**
   * Clusters of up to 16 blocks, which not every device of a compute capability can place; default
   * false.
   */
  readonly nonPortableCluster?: boolean;
  /** All blocks must be resident at once. */
  readonly cooperative?: boolean;
  /** Priority of this launch within its graph or stream. */
  readonly priority?: number;
  /** Programmatic dependent launch. */
  readonly programmatic?: {
    /**
     * May start before its predecessor in the stream ends; the kernel waits itself. In a capture so
     * may a kernel behind a fork or a join, if it follows nothing but kernels.
     */
    readonly serialize?: boolean;
    /**
     * Recorded when all blocks have triggered or ended, so that a kernel on another stream may
     * start then: it must wait on the device. Without timing. On the CPU, outside graphs, when the
     * kernel ends.
     */
    readonly event?: Event;
    /** Records `event` when the blocks begin instead. */
    readonly eventAtBlockStart?: boolean;
    /** Recorded when all blocks have begun; orders no memory. Without timing. */
    readonly completionEvent?: Event;
  };
}
