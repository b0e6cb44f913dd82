import type { Tensor } from '@altstream/cuda-runtime';
import { rmsNorm } from '@altstream/dense-kernels';
import type { ModelStep } from '../model-step.js';

/**
 * Gemma RMSNorm behind a residual add: y = s / rms(s) · (1 + weight) with s = residual + hidden.
 */
export class RmsNorm {
  readonly #weight: Tensor;
  readonly #epsilon: number;

  /** @param weight f32 [hidden] */
  constructor(weight: Tensor, epsilon: number) {
    this.#weight = weight;
    this.#epsilon = epsilon;
  }

  /**
   * Adds `hidden` to `residual` in place and norms the unrounded sum.
   *
   * @param hidden   [tokens, hidden]
   * @param residual [tokens, hidden], updated
   * @returns [tokens, hidden]
   */
  forward(hidden: Tensor, residual: Tensor, step: ModelStep): Tensor {
    const input = { x: hidden, residual, weight: this.#weight };
    return rmsNorm(input, { ...step.on, epsilon: this.#epsilon, residualOut: residual }).y;
  }

  /**
   * The norm of `residual` alone, where nothing comes before.
   *
   * @param residual [tokens, hidden]
   * @returns [tokens, hidden]
   */
  forwardFirst(residual: Tensor, step: ModelStep): Tensor {
    const input = { x: residual, weight: this.#weight };
    return rmsNorm(input, { ...step.on, epsilon: this.#epsilon });
  }
}
