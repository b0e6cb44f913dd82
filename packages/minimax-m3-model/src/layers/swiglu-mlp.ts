import type { Tensor } from '@altstream/cuda-runtime';
import { linear, swigluOai } from '@altstream/dense-kernels';
import type { SwigluConfig } from '../config/model-config.js';
import type { MlpWeights } from '../loader/model-weights.js';
import type { ModelStep } from '../model-step.js';

/** down(swiglu(gate(x), up(x))). With tensor parallelism a rank's output is a partial sum. */
export class SwigluMlp {
  readonly #weights: MlpWeights;
  readonly #swiglu: SwigluConfig;

  constructor(weights: MlpWeights, swiglu: SwigluConfig) {
    this.#weights = weights;
    this.#swiglu = swiglu;
  }

  /**
   * @param x [tokens, hidden]
   * @param out [tokens, hidden], written
   */
  forward(x: Tensor, step: ModelStep, out: Tensor): Tensor {
    return step.scratch(() => {
      const gateUp = linear({ x, weight: this.#weights.gateUp }, step.on);
      const activated = swigluOai({ gateUp }, { ...step.on, ...this.#swiglu });
      return linear({ x: activated, weight: this.#weights.down }, { ...step.on, out });
    });
  }
}
