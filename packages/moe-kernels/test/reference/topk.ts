import { routingRecipes } from '../../src/routing/routing-method.js';
import type { TopkConfig } from '../../src/routing/topk-config.js';

/** Plain numbers to route. */
export interface ReferenceTopkInput {
  readonly logits: Float32Array;
  readonly tokens: number;
  readonly experts: number;
  readonly bias?: Float32Array;
  readonly positions?: Int32Array;
}

/** Slots per token = topK + fused shared experts. */
export interface ReferenceTopk {
  readonly ids: number[];
  readonly weights: number[];
}

/**
 * Router top-k, slow and obvious: float64 with one rounding to fp32 where the kernel has an fp32
 * value that decides an order (score and key), sorted in full. NaN policy 'mask'.
 */
export function referenceTopk(input: ReferenceTopkInput, config: TopkConfig): ReferenceTopk {
  const ids: number[] = [];
  const weights: number[] = [];
  const shared = config.numFusedSharedExperts ?? 0;
  for (let token = 0; token < input.tokens; token += 1) {
    const isPadding = input.positions?.[token] === -1;
    const row = isPadding ? padding(config.topK) : routeRow(input, config, token);
    ids.push(...row.ids);
    weights.push(...row.weights);
    for (let j = 0; j < shared; j += 1) {
      ids.push(isPadding ? -1 : input.experts + j);
      weights.push(isPadding ? 0 : sharedWeight(config));
    }
  }
  return { ids, weights };
}

/** Selection keys of one token, masked groups included. */
export function referenceKeys(
  input: ReferenceTopkInput,
  config: TopkConfig,
  token: number,
): { keys: number[]; scores: number[] } {
  const { experts, bias } = input;
  const recipe = routingRecipes[config.method];
  const logits = [...input.logits.subarray(token * experts, (token + 1) * experts)];
  const scores = scoresOf(recipe.score, logits).map(Math.fround);
  const base = recipe.choose === 'logit' ? logits : scores;
  const keys = base.map((value, e) => Math.fround(value + (bias?.[e] ?? 0)));
  maskGroups(keys, scores, config);
  return { keys, scores };
}

function padding(k: number): ReferenceTopk {
  return { ids: new Array<number>(k).fill(-1), weights: new Array<number>(k).fill(0) };
}

function routeRow(input: ReferenceTopkInput, config: TopkConfig, token: number): ReferenceTopk {
  const { keys, scores } = referenceKeys(input, config, token);
  const order = keys.map((_, e) => e).sort((a, b) => compareKeys(keys, a, b));
  const ids = order.slice(0, config.topK);
  const chosen = ids.map((e) => scores[e] ?? 0);
  const scale = (config.scaleOwner ?? 'weights') === 'weights' ? scaleOf(config) : 1;
  return { ids, weights: normalized(chosen, config).map((weight) => weight * scale) };
}

/** Descending key, NaN behind everything, ties by ascending id. */
function compareKeys(keys: readonly number[], a: number, b: number): number {
  const [x = 0, y = 0] = [keys[a], keys[b]];
  if (Number.isNaN(x) || Number.isNaN(y)) {
    return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || a - b;
  }
  return x === y ? a - b : y > x ? 1 : -1;
}

function scoresOf(score: string, logits: readonly number[]): number[] {
  if (score === 'softmax') return softmax(logits);
  if (score === 'sigmoid') return logits.map((z) => 1 / (1 + Math.exp(-z)));
  if (score === 'sqrtSoftplus') {
    return logits.map((z) => Math.sqrt(z > 500 ? z : Math.log1p(Math.exp(z))));
  }
  return [...logits];
}

function softmax(logits: readonly number[]): number[] {
  const numbers = logits.filter((z) => !Number.isNaN(z));
  const largest = Math.max(Number.NEGATIVE_INFINITY, ...numbers);
  const parts = logits.map((z) => {
    if (Number.isNaN(z)) return z;
    if (largest === Number.NEGATIVE_INFINITY) return 0;
    return z === largest ? 1 : Math.exp(z - largest);
  });
  const sum = parts.reduce((total, part) => total + (Number.isNaN(part) ? 0 : part), 0);
  return sum === 0 ? parts : parts.map((part) => part / sum);
}

function maskGroups(keys: number[], scores: number[], config: TopkConfig): void {
  const { nGroup = 1, topkGroup = nGroup } = config;
  if (nGroup === 1) return;
  const size = keys.length / nGroup;
  const isSum = routingRecipes[config.method].grouping === 'twoLargest';
  const worth = Array.from({ length: nGroup }, (_, g) => {
    const group = keys.slice(g * size, (g + 1) * size).filter((key) => !Number.isNaN(key));
    const sorted = group.sort((a, b) => b - a);
    const [first = Number.NEGATIVE_INFINITY, second = Number.NEGATIVE_INFINITY] = sorted;
    return isSum && size > 1 ? Math.fround(first + second) : first;
  });
  const order = worth.map((_, g) => g).sort((a, b) => compareKeys(worth, a, b));
  for (const g of order.slice(topkGroup)) {
    for (let e = g * size; e < (g + 1) * size; e += 1) {
      if (!Number.isNaN(keys[e])) keys[e] = isSum ? Number.NEGATIVE_INFINITY : 0;
      scores[e] = 0;
    }
  }
}

function normalized(chosen: readonly number[], config: TopkConfig): number[] {
  const { normalize, renormalizeByDefault } = routingRecipes[config.method];
  const isWanted = config.renormalize ?? renormalizeByDefault;
  const isSoftmax = isWanted && normalize === 'inherent';
  const weights = (isSoftmax ? softmax(chosen) : chosen).map((w) => (Number.isNaN(w) ? 0 : w));
  if (!isWanted || isSoftmax) return weights;
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / Math.max(sum, 1e-20));
}

function scaleOf(config: TopkConfig): number {
  return config.routedScalingFactor ?? 1;
}

function sharedWeight(config: TopkConfig): number {
  return config.scaleOwner === 'output' ? 1 / scaleOf(config) : 1;
}
