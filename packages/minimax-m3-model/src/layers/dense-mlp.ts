import type { Tensor } from '@altstream/cuda-runtime';
import type { Communicator } from '../communicator.js';
import type { ModelStep } from '../model-step.js';
import type { SwigluMlp } from './swiglu-mlp.js';

/** The MLP of a dense layer, or the part of it that this rank holds. */
export class DenseMlp {
  readonly #mlp: SwigluMlp | undefined;
  readonly #communicator: Communicator | undefined;

  /** @param mlp undefined for a rank that holds nothing of it */
  constructor(mlp: SwigluMlp | undefined, communicator: Communicator | undefined) {
    this.#mlp = mlp;
    this.#communicator = communicator;
  }

  /** hidden [tokens, hidden] → `out` of the same shape, summed over all ranks. */
  forward(hidden: Tensor, step: ModelStep, out: Tensor): Tensor {
    if (this.#mlp) this.#mlp.forward(hidden, step, out);
    else step.stream.fill(out, 0);
    this.#communicator?.allReduce(out, step.stream);
    return out;
  }
}
