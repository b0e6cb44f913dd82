import type { Tensor } from '@altstream/cuda-runtime';
import { linear } from '@altstream/dense-kernels';
import {
  type ExpertRange,
  type RoutedTokens,
  type TopkConfig,
  type TopkPermutePlan,
  topkPermute,
} from '@altstream/moe-kernels';
import type { MoeConfig } from '../config/model-config.js';
import type { MoeWeights } from '../loader/model-weights.js';
import type { ModelStep } from '../model-step.js';

/**
 * Chooses experts: sigmoid scores in fp32, a bias that only chooses, weights renormalised and
 * scaled.
 */
export class Router {
  readonly #weight: Tensor;
  readonly #bias: Tensor | undefined;
  readonly #topk: TopkConfig;
  #last: TopkPermutePlan | undefined;

  /** @param sharedSlots 1 appends the shared expert as one more choice of weight 1 */
  constructor(weights: MoeWeights, moe: MoeConfig, sharedSlots: 0 | 1) {
    this.#weight = weights.router;
    this.#bias = weights.routerBias;
    this.#topk = {
      method: weights.routerBias ? 'miniMax2' : 'sigmoidRenorm',
      topK: moe.expertsPerToken,
      routedScalingFactor: moe.routedScale,
      numFusedSharedExperts: sharedSlots,
    };
  }

  /** How the last pass chose and grouped, in one launch or in two; undefined before the first. */
  get lastPlan(): TopkPermutePlan | undefined {
    return this.#last;
  }

  /**
   * @param hidden [tokens, hidden]
   * @param range the experts of this rank, for which tokens are grouped
   * @returns ids i32 and weights f32 [tokens, slots], best first; -1 in padding rows; with their
   * maps
   */
  forward(hidden: Tensor, range: ExpertRange, step: ModelStep): RoutedTokens {
    const weight = { data: this.#weight };
    const logits = linear({ x: hidden, weight, outDtype: 'f32' }, step.on);
    const { positions } = step.batch;
    const bias = this.#bias && { routingBias: this.#bias };
    const pdl = step.pdl && { pdl: step.pdl };
    const { stream, allocator } = step.on;
    const options = { stream, allocator, ...pdl };
    const routed = topkPermute({ logits, positions, ...bias }, this.#topk, range, options);
    this.#last = routed.plan;
    return routed;
  }
}
