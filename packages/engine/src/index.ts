export { Engine, type EngineStats, type Submission } from './engine.js';
export { defaultGraphSizes, type EngineOptions } from './engine-options.js';
export {
  CapacityError,
  ClosedError,
  EngineError,
  type EngineErrorCode,
  LedgerError,
  MemoryError,
  type MemoryFacts,
  ParameterError,
  PromptError,
  StepError,
} from './errors/index.js';
export { EventQueue } from './event-queue.js';
export type {
  FinishEvent,
  FinishReason,
  GenerationEvent,
  PromptEvent,
  TokenEvent,
  TokenLogprob,
} from './generation-event.js';
export type { GenerationParameters } from './generation-parameters.js';
export type { GraphRunnerReport } from './graph-runner.js';
export { MarkovModel } from './markov-model.js';
export type { CausalModel, ModelBatch, ModelCache, StepContext } from './model.js';
export type { PageCounts } from './pages/page-pool.js';
export type { PrefixCacheCounts } from './pages/prefix-cache.js';
export type { TokenBytes } from './stop-condition.js';
