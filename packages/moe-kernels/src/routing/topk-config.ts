import { checkFinite, checkInteger } from '../arguments/checks.js';
import { ArgumentRangeError } from '../errors/index.js';
import {
  type RoutingMethod,
  type RoutingRecipe,
  routingMethods,
  routingRecipes,
} from './routing-method.js';

/** Who multiplies by the routed scaling factor; it must happen exactly once. */
export type ScaleOwner = 'weights' | 'output' | 'none';

/** How tokens are routed. Names as in the field's engines. */
export interface TopkConfig {
  /** Experts per token, 1 … 32. */
  readonly topK: number;
  readonly method: RoutingMethod;
  /** Divide the chosen weights by their sum; default by method (docs/topk.md). */
  readonly renormalize?: boolean;
  /** Default 1. */
  readonly routedScalingFactor?: number;
  /**
   * `weights` (default): multiplied into the weights here. `output`: `finalize` multiplies the sum.
   */
  readonly scaleOwner?: ScaleOwner;
  /** Contiguous groups of experts, default 1; grouped methods only. */
  readonly nGroup?: number;
  /** Groups that stay selectable, default `nGroup`. */
  readonly topkGroup?: number;
  /** Slots appended with ids experts, experts + 1, …, net weight exactly 1; default 0. */
  readonly numFusedSharedExperts?: number;
  /**
   * `mask` (default): a NaN logit is chosen last and weighs 0. `propagate`: chosen first, weighs
   * NaN. `flag`: as `mask`, and the call's `status` word is set to 1.
   */
  readonly nanPolicy?: 'mask' | 'propagate' | 'flag';
}

/** The fields of the kernel's parameter struct that do not depend on the tensors. */
export interface TopkSettings {
  readonly k: number;
  readonly shared: number;
  readonly score: number;
  readonly by_logit: number;
  readonly groups: number;
  readonly kept_groups: number;
  readonly group_rule: number;
  readonly normalize: number;
  readonly nan_first: number;
  readonly scale: number;
  readonly shared_weight: number;
}

/** Most experts per token and in all; the kernel's limits. */
export const topkLimits = { k: 32, experts: 4096 } as const;

const scores = { logit: 0, softmax: 1, sigmoid: 2, sqrtSoftplus: 3 } as const;
const normalizations = { sum: 1, flooredSum: 2, inherent: 3, never: 0 } as const;

/**
 * Checks a configuration for `experts` experts and translates it into the kernel's terms.
 * @throws ArgumentRangeError
 */
export function resolveTopk(
  config: TopkConfig,
  experts: number,
  options: { readonly hasBias: boolean; readonly operation: string },
): TopkSettings {
  const { operation } = options;
  const recipe = recipeOf(config, operation);
  const scale = config.routedScalingFactor ?? 1;
  const shared = config.numFusedSharedExperts ?? 0;
  checkInteger(operation, 'experts', experts, { min: 1, max: topkLimits.experts });
  checkTopK(config, experts, operation);
  checkFinite(operation, 'routedScalingFactor', scale);
  checkInteger(operation, 'numFusedSharedExperts', shared, { min: 0, max: topkLimits.k });
  checkBias(config.method, recipe, options);
  const groups = checkGroups(config, recipe, experts, operation);
  return {
    k: config.topK,
    shared,
    score: scores[recipe.score],
    by_logit: recipe.choose === 'logit' ? 1 : 0,
    groups: groups.count,
    kept_groups: groups.kept,
    group_rule: recipe.grouping === 'twoLargest' ? 1 : 0,
    normalize: normalizationOf(config, recipe, operation),
    nan_first: config.nanPolicy === 'propagate' ? 1 : 0,
    scale: (config.scaleOwner ?? 'weights') === 'weights' ? scale : 1,
    shared_weight: sharedWeight(config, scale, operation),
  };
}

function recipeOf({ method }: TopkConfig, operation: string): RoutingRecipe {
  if (Object.hasOwn(routingRecipes, method)) return routingRecipes[method];
  const known = Object.keys(routingMethods).join(', ');
  throw new ArgumentRangeError(operation, `method must be one of ${known}, got ${method}`);
}

function checkTopK({ topK, method }: TopkConfig, experts: number, operation: string): void {
  checkInteger(operation, 'topK', topK, { min: 1, max: experts, maxName: 'numExperts' });
  checkInteger(operation, 'topK', topK, { min: 1, max: topkLimits.k });
  if (method === 'llama4' && topK !== 1) {
    throw new ArgumentRangeError(operation, `topK must be 1 with llama4 routing, got ${topK}`);
  }
}

function checkBias(
  method: RoutingMethod,
  recipe: RoutingRecipe,
  { hasBias, operation }: { readonly hasBias: boolean; readonly operation: string },
): void {
  if (recipe.bias === 'required' && !hasBias) {
    throw new ArgumentRangeError(operation, `routingBias is required by ${method} routing`);
  }
  if (recipe.bias === 'unused' && hasBias) {
    throw new ArgumentRangeError(operation, `routingBias is not used by ${method} routing`);
  }
}

function checkGroups(
  { nGroup = 1, topkGroup = nGroup, topK }: TopkConfig,
  { grouping }: RoutingRecipe,
  experts: number,
  operation: string,
): { count: number; kept: number } {
  checkInteger(operation, 'nGroup', nGroup, { min: 1, max: experts, maxName: 'numExperts' });
  if (nGroup > 1 && grouping === 'none') {
    const problem = 'nGroup > 1 is only valid with deepseekV3 / grouped softmax routing';
    throw new ArgumentRangeError(operation, `${problem}, got ${nGroup}`);
  }
  if (experts % nGroup !== 0) {
    const problem = `numExperts (${experts}) must be divisible by nGroup (${nGroup})`;
    throw new ArgumentRangeError(operation, problem);
  }
  checkInteger(operation, 'topkGroup', topkGroup, { min: 1, max: nGroup, maxName: 'nGroup' });
  const selectable = (topkGroup * experts) / nGroup;
  if (topK > selectable) {
    throw new ArgumentRangeError(
      operation,
      `topK (${topK}) exceeds the ${selectable} experts selectable from topkGroup (${topkGroup}) of nGroup (${nGroup})`,
    );
  }
  return { count: nGroup, kept: topkGroup };
}

function normalizationOf(
  { renormalize, method }: TopkConfig,
  { normalize, renormalizeByDefault }: RoutingRecipe,
  operation: string,
): number {
  const wanted = renormalize ?? renormalizeByDefault;
  if (normalize === 'inherent' && !wanted) {
    throw new ArgumentRangeError(operation, `renormalize cannot be false with ${method} routing`);
  }
  if (normalize === 'never' && wanted) {
    throw new ArgumentRangeError(operation, `renormalize cannot be true with ${method} routing`);
  }
  return wanted ? normalizations[normalize] : 0;
}

/** 1, or 1/scale when the output is multiplied later; then only powers of two give exactly 1. */
function sharedWeight(config: TopkConfig, scale: number, operation: string): number {
  if (config.scaleOwner !== 'output' || !config.numFusedSharedExperts) return 1;
  if (scale > 0 && Number.isInteger(Math.log2(scale))) return 1 / scale;
  throw new ArgumentRangeError(
    operation,
    `a fused shared expert cannot have net weight exactly 1 with scaleOwner 'output' and routedScalingFactor ${scale}, which is not a power of two; use scaleOwner 'weights'`,
  );
}
