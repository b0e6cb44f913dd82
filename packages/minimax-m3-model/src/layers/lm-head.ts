import type { Tensor } from '@altstream/cuda-runtime';
import { embedding, linear } from '@altstream/dense-kernels';
import type { Communicator } from '../communicator.js';
import type { ModelWeights } from '../loader/model-weights.js';
import type { ModelStep } from '../model-step.js';
import type { RmsNorm } from './rms-norm.js';

/** Last norm and head, on the wanted rows only. */
export class LmHead {
  readonly #norm: RmsNorm;
  readonly #weights: Pick<ModelWeights, 'lmHead' | 'vocab'>;
  readonly #vocabSize: number;
  readonly #communicator: Communicator | undefined;

  constructor(
    norm: RmsNorm,
    weights: Pick<ModelWeights, 'lmHead' | 'vocab'>,
    vocabSize: number,
    communicator: Communicator | undefined,
  ) {
    this.#norm = norm;
    this.#weights = weights;
    this.#vocabSize = vocabSize;
    this.#communicator = communicator;
  }

  /**
   * @param hidden   [tokens, hidden], not yet added
   * @param residual [tokens, hidden]
   * @returns logits f32 [rows, vocab]; zeros behind padding rows
   */
  forward(hidden: Tensor, residual: Tensor, step: ModelStep): Tensor {
    const ids = step.batch.rows;
    const logits = step.workspace.tensor([ids.elements, this.#vocabSize], 'f32', 'logits');
    step.scratch(() => {
      const wanted = embedding({ table: hidden, ids }, step.on);
      const wantedResidual = embedding({ table: residual, ids }, step.on);
      const x = this.#norm.forward(wanted, wantedResidual, step);
      step.taps?.finalNorm?.(x, step.stream);
      this.#project(x, logits, step);
    });
    return logits;
  }

  /** Each rank fills the columns of its tokens and leaves zeros elsewhere, so a sum gathers them. */
  #project(x: Tensor, logits: Tensor, step: ModelStep): void {
    const { lmHead, vocab } = this.#weights;
    const isWhole = vocab.count === this.#vocabSize;
    if (!isWhole) step.stream.fill(logits, 0);
    const out = isWhole ? logits : logits.slice(1, vocab.start, vocab.start + vocab.count);
    linear({ x, weight: lmHead, outDtype: 'f32' }, { ...step.on, out });
    if (!isWhole) this.#communicator?.allReduce(logits, step.stream);
  }
}
