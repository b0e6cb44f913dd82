/**
 * The routing methods of the field. The numbers 0–9 are those of FlashInfer and TensorRT-LLM, so
 * that data can be exchanged; ours start at 100. Equations: docs/topk.md.
 */
export const routingMethods = {
  /** softmax over all experts → top-k. */
  default: 0,
  /** top-k of the logits → softmax over the chosen. */
  renormalize: 1,
  /** sigmoid + bias, group-limited, scaled normalisation. */
  deepseekV3: 2,
  /** best logit → sigmoid; k = 1. */
  llama4: 3,
  /** softmax → top-k → divided by their sum. */
  renormalizeNaive: 4,
  /** top-k of the logits, which are the weights. */
  topK: 5,
  /** sigmoid → top-k → divided by their sum. */
  sigmoidRenorm: 6,
  /** sigmoid + bias → top-k → sigmoids divided by their sum, scaled: MiniMax-M2 and M3. */
  miniMax2: 7,
  /** sigmoid → top-k. */
  sigmoid: 8,
  /** top-k of the logits → sigmoid. */
  topKSigmoid: 9,
  /** sqrt(softplus), bias optional → top-k → divided by their sum. */
  sqrtSoftplus: 100,
  /** softmax + bias → top-k → softmax values divided by their sum. */
  softmaxBias: 101,
  /** softmax, best groups by their largest value: DeepSeek-V2. */
  groupedSoftmax: 102,
} as const;

/** Name of a routing method. */
export type RoutingMethod = keyof typeof routingMethods;

/** How a method is computed, in the terms of the kernel's parameter struct. */
export interface RoutingRecipe {
  readonly score: 'logit' | 'softmax' | 'sigmoid' | 'sqrtSoftplus';
  readonly choose: 'score' | 'logit';
  readonly bias: 'required' | 'optional' | 'unused';
  readonly grouping: 'none' | 'largest' | 'twoLargest';
  /** What `renormalize: true` does; `inherent` cannot be turned off, `never` not on. */
  readonly normalize: 'sum' | 'flooredSum' | 'inherent' | 'never';
  readonly renormalizeByDefault: boolean;
}

const plain = { choose: 'score', bias: 'unused', grouping: 'none', normalize: 'sum' } as const;

/** The recipe of each method. */
export const routingRecipes: Readonly<Record<RoutingMethod, RoutingRecipe>> = {
  default: { ...plain, score: 'softmax', renormalizeByDefault: false },
  renormalize: {
    ...plain,
    score: 'logit',
    normalize: 'inherent',
    renormalizeByDefault: true,
  },
  deepseekV3: {
    ...plain,
    score: 'sigmoid',
    bias: 'required',
    grouping: 'twoLargest',
    renormalizeByDefault: true,
  },
  llama4: {
    ...plain,
    score: 'sigmoid',
    choose: 'logit',
    normalize: 'never',
    renormalizeByDefault: false,
  },
  renormalizeNaive: { ...plain, score: 'softmax', renormalizeByDefault: true },
  topK: { ...plain, score: 'logit', normalize: 'never', renormalizeByDefault: false },
  sigmoidRenorm: {
    ...plain,
    score: 'sigmoid',
    normalize: 'flooredSum',
    renormalizeByDefault: true,
  },
  miniMax2: { ...plain, score: 'sigmoid', bias: 'required', renormalizeByDefault: true },
  sigmoid: { ...plain, score: 'sigmoid', renormalizeByDefault: false },
  topKSigmoid: { ...plain, score: 'sigmoid', choose: 'logit', renormalizeByDefault: false },
  sqrtSoftplus: { ...plain, score: 'sqrtSoftplus', bias: 'optional', renormalizeByDefault: true },
  softmaxBias: { ...plain, score: 'softmax', bias: 'required', renormalizeByDefault: true },
  groupedSoftmax: {
    ...plain,
    score: 'softmax',
    grouping: 'largest',
    renormalizeByDefault: true,
  },
};
