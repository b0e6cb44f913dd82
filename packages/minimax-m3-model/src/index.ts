export { type CacheNeed, cacheNeed } from './check/cache-need.js';
export { checkWeights, type WeightCheck } from './check/check-weights.js';
export type { Communicator } from './communicator.js';
export { builtInConfig, builtInModels } from './config/built-in-configs.js';
export type {
  LayerKind,
  ModelConfig,
  MoeConfig,
  SparseAttentionConfig,
  SwigluConfig,
} from './config/model-config.js';
export { type ConfigOverrides, parseOverrides } from './config/overrides.js';
export { parseModelConfig, readModelConfig, supportedModelTypes } from './config.js';
export {
  type CheckpointCode,
  CheckpointError,
  type ModelConfigCode,
  ModelConfigError,
  ModelError,
  ModelMemoryError,
  type ModelMemoryFacts,
  type ModelStateCode,
  ModelStateError,
} from './errors/index.js';
export type { KvCache } from './kv-cache.js';
export { Checkpoint } from './loader/checkpoint.js';
export type { DummyReport } from './loader/dummy/dummy-source.js';
export type { LoadProgress, LoadReport } from './loader/load-report.js';
export type { RankPart, TensorParallel } from './loader/shard.js';
export type { FileAccess, StoredTensor, TensorSource } from './loader/tensor-source.js';
export { MiniMaxM3Model } from './minimax-m3-model.js';
export type { ModelDecisions, ModelOptions } from './model-options.js';
export type { LoadFormat } from './model-source.js';
export type { ModelBatch, StepContext } from './model-step.js';
export type { ModelTaps } from './model-taps.js';
export type { OverlapMode } from './overlap.js';
export type { SharedExpertMode } from './shared-expert/shared-expert-choice.js';
