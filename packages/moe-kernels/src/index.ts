export type { ExpertRange } from './arguments/expert-range.js';
export type { ExpertWeight, WeightFormat } from './arguments/expert-weight.js';
export type { Permutation } from './arguments/permutation.js';
export type { SwigluConfig } from './arguments/swiglu-config.js';
export {
  ArgumentRangeError,
  ConfigurationError,
  DeviceError,
  DTypeError,
  MoeKernelsError,
  NotLoadedError,
  ShapeError,
} from './errors/index.js';
export { type ExpertsDownInput, type ExpertsDownOptions, expertsDown } from './experts-down.js';
export { type ExpertsGateUpInput, type ExpertsOptions, expertsGateUp } from './experts-gate-up.js';
export { type FinalizeInput, type FinalizeOptions, finalize } from './finalize.js';
export type { KernelPlan } from './kernel-plan.js';
export { loadMoeKernels } from './module.js';
export {
  type PdlChooser,
  type PdlConfig,
  type PdlDecision,
  PdlPolicy,
} from './pdl.js';
export type { PdlDtype, PdlLimit } from './pdl-limits.js';
export { type PermuteOptions, permute } from './permute.js';
export {
  RoutedExperts,
  type RoutedExpertsConfig,
  type RoutedExpertsInput,
  type RoutedExpertsOptions,
  type RoutedExpertsReport,
  type RoutedExpertsWeights,
  type RoutedRows,
  type SumRowsOptions,
} from './routed-experts.js';
export type { RoutedExpertsPlan } from './routed-experts.plan.js';
export { type RoutingMethod, routingMethods } from './routing/routing-method.js';
export type { ScaleOwner, TopkConfig } from './routing/topk-config.js';
export { type TopkInput, type TopkOptions, type TopkResult, topk } from './topk.js';
export { type RoutedTokens, type TopkPermuteOptions, topkPermute } from './topk-permute.js';
export type { TopkPermutePlan } from './topk-permute.plan.js';
