import type { Tensor } from '@altstream/cuda-runtime';
import type { Communicator } from '../communicator.js';
import type { ModelStep } from '../model-step.js';
import type { SwigluMlp } from './swiglu-mlp.js';

/** The MLP of a dense layer. */
export class DenseMlp {
  readonly #mlp: SwigluMlp;
  readonly #communicator: Communicator | undefined;

  constructor(mlp: SwigluMlp, communicator: Communicator | undefined) {
    this.#mlp = mlp;
    this.#communicator = communicator;
  }

  /** hidden [tokens, hidden] → `out` of the same shape, summed over all ranks. */
  forward(hidden: Tensor, step: ModelStep, out: Tensor): Tensor {
    this.#mlp.forward(hidden, step, out);
    this.#communicator?.allReduce(out, step.stream);
    return out;
  }
}
