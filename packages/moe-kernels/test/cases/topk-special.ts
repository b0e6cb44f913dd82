import type { TopkConfig } from '../../src/routing/topk-config.js';

/** One row whose answer was worked out by hand. */
export interface TopkSpecialCase {
  readonly name: string;
  readonly logits: readonly number[];
  readonly bias?: readonly number[];
  readonly config: TopkConfig;
  readonly expected: {
    readonly ids: readonly number[];
    readonly weights: readonly number[];
    /** Unsigned words. */
    readonly packed?: readonly number[];
  };
}

const { NaN: nan, POSITIVE_INFINITY: inf } = Number;
const m2 = (topK: number): TopkConfig => ({ topK, method: 'miniMax2' });
/** The logit of a probability. */
const logit = (p: number) => Math.log(p / (1 - p));

/** Vectors of the specification, ties, NaN and infinities. */
export const topkSpecialCases: readonly TopkSpecialCase[] = [
  {
    name: 'the bias chooses and does not weigh',
    logits: [0, Math.log(3), -Math.log(3), 0],
    bias: [0, 0, 1, 0],
    config: { ...m2(2), routedScalingFactor: 2 },
    expected: { ids: [2, 1], weights: [0.5, 1.5] },
  },
  {
    name: 'equal scores: the lower ids, in ascending order',
    logits: [0, 0, 0, 0, 0, 0],
    bias: [0, 0, 0, 0, 0, 0],
    config: m2(4),
    expected: { ids: [0, 1, 2, 3], weights: [0.25, 0.25, 0.25, 0.25] },
  },
  {
    name: '-0 and +0 tie',
    logits: [-0, 0, -0],
    config: { topK: 2, method: 'topK' },
    expected: { ids: [0, 1], weights: [0, 0] },
  },
  {
    name: 'the global best is not chosen when its group is weak',
    logits: [0.9, 0.1, 0.6, 0.6, 0.5, 0.5, 0.8, 0.3].map(logit),
    bias: [0, 0, 0, 0, 0, 0, 0, 0],
    config: { topK: 2, method: 'deepseekV3', nGroup: 4, topkGroup: 2 },
    expected: { ids: [6, 2], weights: [0.8 / 1.4, 0.6 / 1.4] },
  },
  {
    name: 'groups with negative keys are masked with -inf, not 0',
    logits: [0, 0, 0, 0],
    bias: [-3, -3, -2, -2],
    config: { topK: 2, method: 'deepseekV3', nGroup: 2, topkGroup: 1 },
    expected: { ids: [2, 3], weights: [0.5, 0.5] },
  },
  {
    name: 'packs a negative weight without touching the id',
    logits: [-0.5, -9, -9, -9, -9, 0.5],
    config: { topK: 2, method: 'topK' },
    expected: { ids: [5, 0], weights: [0.5, -0.5], packed: [0x00053f00, 0x0000bf00] },
  },
  {
    name: 'NaN comes last and weighs nothing; no id twice (vLLM#39288)',
    logits: [nan, 0, nan, -1],
    bias: [0, 0, 0, 0],
    config: m2(3),
    expected: { ids: [1, 3, 0], weights: [...shares([0, -1]), 0] },
  },
  {
    name: 'a row of NaN gives ids 0 … k-1 with weights 0 (vLLM#39391)',
    logits: [nan, nan, nan, nan],
    config: { topK: 3, method: 'default' },
    expected: { ids: [0, 1, 2], weights: [0, 0, 0] },
  },
  {
    name: 'a row of NaN in groups too',
    logits: [nan, nan, nan, nan],
    bias: [0, 0, 9, 9],
    config: { topK: 2, method: 'deepseekV3', nGroup: 2, topkGroup: 1 },
    expected: { ids: [0, 1], weights: [0, 0] },
  },
  {
    name: 'propagate: NaN comes first and stays NaN',
    logits: [0, nan, 2],
    config: { topK: 2, method: 'sigmoid', nanPolicy: 'propagate' },
    expected: { ids: [1, 2], weights: [nan, 1 / (1 + Math.exp(-2))] },
  },
  {
    name: '-inf is chosen last, lowest id first, and weighs 0',
    logits: [-inf, -inf, 0, -inf],
    config: { topK: 3, method: 'renormalize' },
    expected: { ids: [2, 0, 1], weights: [1, 0, 0] },
  },
  {
    name: 'a row of -inf is no 0/0',
    logits: [-inf, -inf, -inf],
    config: { topK: 2, method: 'renormalizeNaive' },
    expected: { ids: [0, 1], weights: [0, 0] },
  },
  {
    name: '+inf takes all the softmax, evenly',
    logits: [0, inf, 5, inf],
    config: { topK: 3, method: 'default' },
    expected: { ids: [1, 3, 0], weights: [0.5, 0.5, 0] },
  },
  {
    name: 'infinite logits have sigmoids 1 and 0',
    logits: [inf, -inf],
    config: { topK: 2, method: 'sigmoid' },
    expected: { ids: [0, 1], weights: [1, 0] },
  },
  {
    name: 'scores that all underflow divide to 0, not NaN',
    logits: [-200, -300],
    config: { topK: 2, method: 'sigmoidRenorm' },
    expected: { ids: [0, 1], weights: [0, 0] },
  },
  {
    name: 'a large logit does not overflow softplus',
    logits: [100, -100],
    config: { topK: 1, method: 'sqrtSoftplus', renormalize: false },
    expected: { ids: [0], weights: [10] },
  },
];

/** Sigmoids over their sum. */
function shares(logits: readonly number[]): number[] {
  const sigmoids = logits.map((z) => 1 / (1 + Math.exp(-z)));
  const sum = sigmoids.reduce((a, b) => a + b, 0);
  return sigmoids.map((sigmoid) => sigmoid / sum);
}
