import type { Tensor } from '@altstream/cuda-runtime';
import { linear } from '@altstream/dense-kernels';
import { type TopkConfig, type TopkResult, topk } from '@altstream/moe-kernels';
import type { MoeConfig } from '../config/model-config.js';
import type { MoeWeights } from '../loader/model-weights.js';
import type { ModelStep } from '../model-step.js';

/** Chooses experts: sigmoid scores in fp32, a bias that only chooses, weights renormalised and scaled. */
export class Router {
  readonly #weight: Tensor;
  readonly #bias: Tensor | undefined;
  readonly #topk: TopkConfig;

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

  /**
   * @param hidden [tokens, hidden]
   * @returns ids i32 and weights f32 [tokens, slots], best first; -1 in padding rows
   */
  forward(hidden: Tensor, step: ModelStep): TopkResult {
    const weight = { data: this.#weight };
    const logits = linear({ x: hidden, weight, outDtype: 'f32' }, step.on);
    const { positions } = step.batch;
    const bias = this.#bias && { routingBias: this.#bias };
    const pdl = step.pdl && { pdl: step.pdl };
    return topk({ logits, positions, ...bias }, this.#topk, { ...step.on, ...pdl });
  }
}
