/** How a model is loaded. */

import type { Device, Runtime } from '@altstream/cuda-runtime';
import type { Communicator } from './communicator.js';
import type { LoadProgress } from './loader/load-report.js';
import type { TensorParallel } from './loader/shard.js';
import type { OverlapMode } from './overlap.js';
import type { SharedExpertMode } from './shared-expert-choice.js';

/** Options of `MiniMaxM3Model.load`. */
export interface ModelOptions {
  readonly runtime: Runtime;
  /** Default: the runtime's device. */
  readonly device?: Device;
  /** Checkpoint folder. */
  readonly directory: string;
  /** Type of activations and cache, default bfloat16. Weights stay as stored. */
  readonly dtype?: 'bfloat16' | 'float32';
  /** When shared and routed experts run side by side, default `capture`. */
  readonly overlap?: OverlapMode;
  /** Default `separate`. */
  readonly sharedExpert?: SharedExpertMode;
  /** Batch sizes to measure for `sharedExpert: 'auto'`, e.g. those of the decode graphs. */
  readonly measuredBatchSizes?: readonly number[];
  /** Default: the whole model. Any size works, also one that divides nothing. */
  readonly tensorParallel?: TensorParallel;
  /**
   * Sums over the ranks. Left out with several ranks, this rank runs by itself on its part of every
   * sum: right for measuring, wrong as an answer; `describe()` says so. Its embedding is whole then,
   * since nobody would bring the rows of the other ranks.
   */
  readonly communicator?: Communicator;
  readonly onProgress?: LoadProgress;
  /** Stops loading. */
  readonly signal?: AbortSignal;
}
