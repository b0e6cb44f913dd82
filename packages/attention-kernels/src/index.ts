export type { OperationOptions } from '@altstream/cuda-runtime';
export type { AttentionInput, AttentionOptions } from './arguments/attention-input.js';
export type { PageBatch } from './arguments/page-batch.js';
export type { TokenRange } from './arguments/token-range.js';
export {
  type BlockScoresInput,
  type BlockScoresOptions,
  blockScores,
  type ScoreType,
} from './block-scores.js';
export {
  type BlockChoice,
  type BlockTopkInput,
  type BlockTopkOptions,
  blockTopk,
} from './block-topk.js';
export {
  ArgumentRangeError,
  AttentionKernelsError,
  type AttentionKernelsErrorCode,
  type AttentionKernelsErrorFacts,
  DeviceError,
  DTypeError,
  NotLoadedError,
  ShapeError,
} from './errors/index.js';
export { type HeadsPlace, headsView } from './heads-view.js';
export { type KvWriteInput, kvWrite } from './kv-write.js';
export { loadAttentionKernels } from './module.js';
export { pagedAttention } from './paged-attention.js';
export {
  type QkNormRopeCache,
  type QkNormRopeInput,
  type QkNormRopeOptions,
  type QkNormRopeResult,
  qkNormRope,
} from './qk-norm-rope.js';
export { type SelectBlocksOptions, selectBlocks } from './select-blocks.js';
export { type SparseAttentionInput, sparseAttention } from './sparse-attention.js';
