export { Engine, type EngineStats, type Generation, type Submission } from './engine.js';
export { defaultGraphSizes, type EngineOptions } from './engine-options.js';
export {
  CapacityError,
  ClosedError,
  DeadlineError,
  EngineError,
  type EngineErrorCode,
  GrammarError,
  LedgerError,
  MemoryError,
  type MemoryFacts,
  ParameterError,
  PromptError,
  StepError,
  TraceError,
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
export type { GrammarMatcher } from './grammar/grammar-matcher.js';
export type { DecodeGraphReport, GraphRunnerReport } from './graph-runner.js';
export {
  echoPrompt,
  type MockAnswer,
  type MockRequest,
  scriptedAnswers,
} from './mock/mock-answer.js';
export { MockEngine, type MockEngineOptions } from './mock/mock-engine.js';
export type { MockFault } from './mock/mock-faults.js';
export type { CausalModel, ModelBatch, ModelCache, ModelFacts, StepContext } from './model.js';
export { MarkovModel } from './models/markov-model.js';
export { WrappedModel } from './models/wrapped-model.js';
export type { PageCounts } from './pages/page-pool.js';
export type { PrefixCacheCounts } from './pages/prompt-sharing.js';
export type { SchedulerCounts } from './scheduler/scheduler-options.js';
export { type ReplayReport, replaySchedule } from './scheduler/trace/replay.js';
export type { Backlog, TraceDecision, TracePiece } from './scheduler/trace/trace-line.js';
export type { StepPlan, StepWatch } from './step/step-watch.js';
export type { LookAheadReport } from './step-pipeline.js';
export type { TokenBytes } from './stop-condition.js';
