/** One decoder layer. */

import type { Tensor } from '@altstream/cuda-runtime';
import type { Attention } from './layers/attention.js';
import type { RmsNorm } from './layers/rms-norm.js';
import type { ModelStep } from './model-step.js';

/** Either kind of MLP. */
export interface LayerMlp {
  forward(hidden: Tensor, step: ModelStep, out: Tensor): Tensor;
}

/** What a layer is made of. */
export interface DecoderLayerParts {
  readonly layer: number;
  readonly inputNorm: RmsNorm;
  readonly attention: Attention;
  readonly postAttentionNorm: RmsNorm;
  readonly mlp: LayerMlp;
}

/**
 * Pre-norm attention, then pre-norm MLP or MoE, each added to the residual stream by the next norm.
 */
export class DecoderLayer {
  readonly #parts: DecoderLayerParts;

  constructor(parts: DecoderLayerParts) {
    this.#parts = parts;
  }

  /**
   * Adds `hidden`, the output of the layer before, to `residual`, and leaves this layer's own
   * output in `hidden`.
   *
   * @param hidden   [tokens, hidden], replaced
   * @param residual [tokens, hidden], updated
   * @param isFirst  nothing comes before: `hidden` is not read
   */
  forward(hidden: Tensor, residual: Tensor, step: ModelStep, isFirst = false): void {
    const { layer, inputNorm, attention, postAttentionNorm, mlp } = this.#parts;
    step.scratch(() => {
      const attentionInput = isFirst
        ? inputNorm.forwardFirst(residual, step)
        : inputNorm.forward(hidden, residual, step);
      step.taps?.residual?.(layer, 'attention', residual, step.stream);
      const attended = attention.forward(attentionInput, step);
      const mlpInput = postAttentionNorm.forward(attended, residual, step);
      step.taps?.residual?.(layer, 'mlp', residual, step.stream);
      mlp.forward(mlpInput, step, hidden);
      step.taps?.output?.(layer, hidden, step.stream);
    });
  }
}
