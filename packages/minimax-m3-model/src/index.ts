export type { Communicator } from './communicator.js';
export type {
  LayerKind,
  ModelConfig,
  MoeConfig,
  SparseAttentionConfig,
  SwigluConfig,
} from './config/model-config.js';
export { parseModelConfig, readModelConfig, supportedModelTypes } from './config.js';
export {
  type CheckpointCode,
  CheckpointError,
  type ModelConfigCode,
  ModelConfigError,
  ModelError,
  type ModelStateCode,
  ModelStateError,
} from './errors/index.js';
export type { KvCache } from './kv-cache.js';
export { Checkpoint } from './loader/checkpoint.js';
export type { LoadProgress, LoadReport } from './loader/load-report.js';
export type { RankPart, TensorParallel } from './loader/shard.js';
export type { FileAccess, StoredTensor, TensorSource } from './loader/tensor-source.js';
export { MiniMaxM3Model } from './minimax-m3-model.js';
export type { ModelOptions } from './model-options.js';
export type { ModelBatch, StepContext } from './model-step.js';
export type { ModelTaps } from './model-taps.js';
export type { OverlapMode } from './overlap.js';
export type { SharedExpertMode } from './shared-expert-choice.js';
