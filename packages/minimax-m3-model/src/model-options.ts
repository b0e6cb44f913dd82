/** How a model is loaded. */

import type { Device, Runtime } from '@altstream/cuda-runtime';
import type { PdlConfig } from '@altstream/moe-kernels';
import type { Communicator } from './communicator.js';
import type { ConfigOverrides } from './config/overrides.js';
import type { LoadProgress } from './loader/load-report.js';
import type { TensorParallel } from './loader/shard.js';
import type { LoadFormat } from './model-source.js';
import type { OverlapMode } from './overlap.js';
import type { SharedExpertMode } from './shared-expert/shared-expert-choice.js';

/** What can be decided anew for weights that are loaded. */
export interface ModelDecisions {
  /** When shared and routed experts run side by side, default `capture`. */
  readonly overlap?: OverlapMode;
  /** Default `separate`. */
  readonly sharedExpert?: SharedExpertMode;
  /** Batch sizes to measure for `sharedExpert: 'auto'`, e.g. those of the decode graphs. */
  readonly measuredBatchSizes?: readonly number[];
  /**
   * Programmatic launches of the routed experts: mode, limits by weight format and architecture.
   * The environment of `@altstream/moe-kernels` is read when the model is made.
   */
  readonly pdl?: PdlConfig;
}

/** Options of `MiniMaxM3Model.load`. */
export interface ModelOptions extends ModelDecisions {
  readonly runtime: Runtime;
  /** Default: the runtime's device. */
  readonly device?: Device;
  /** Checkpoint folder; with `loadFormat: 'dummy'` also `MiniMax-M3` or `MiniMax-M3-BF16`. */
  readonly directory: string;
  /** Default `safetensors`. `dummy`: random weights of the right size, without reading any. */
  readonly loadFormat?: LoadFormat;
  /** Fields of `config.json` to replace, e.g. `{ num_hidden_layers: 8 }`. */
  readonly overrides?: ConfigOverrides;
  /** Of dummy weights, a whole number; default 0. */
  readonly seed?: number;
  /** Type of activations and cache, default bfloat16. Weights stay as stored. */
  readonly dtype?: 'bfloat16' | 'float32';
  /** Default: the whole model. Any size works, also one that divides nothing. */
  readonly tensorParallel?: TensorParallel;
  /**
   * Sums over the ranks. Left out with several ranks, this rank runs by itself on its part of every
   * sum: right for measuring, wrong as an answer; `describe()` says so. Its embedding is whole
   * then, since nobody would bring the rows of the other ranks.
   */
  readonly communicator?: Communicator;
  readonly onProgress?: LoadProgress;
  /** Stops loading. */
  readonly signal?: AbortSignal;
}
