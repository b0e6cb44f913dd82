import type { Tensor } from '@altstream/cuda-runtime';
import { embedding, linear } from '@altstream/dense-kernels';
import type { Communicator } from '../communicator.js';
import type { ModelWeights } from '../loader/model-weights.js';
import type { ModelStep } from '../model-step.js';
import type { RmsNorm } from './rms-norm.js';

/** The head and whose part of it this is. */
type HeadWeights = Pick<ModelWeights, 'lmHead' | 'vocab' | 'tensorParallel'>;

/** Last norm and head, on the wanted rows only. */
export class LmHead {
  readonly #norm: RmsNorm;
  readonly #weights: HeadWeights;
  readonly #vocabSize: number;
  readonly #communicator: Communicator | undefined;

  constructor(
    norm: RmsNorm,
    weights: HeadWeights,
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

  /**
   * Each rank fills the columns of its tokens and leaves zeros elsewhere, so a sum gathers them.
   */
  #project(x: Tensor, logits: Tensor, step: ModelStep): void {
    const { lmHead, vocab, tensorParallel } = this.#weights;
    const isWhole = tensorParallel.size === 1;
    if (!isWhole) step.stream.fill(logits, 0);
    if (vocab.count > 0) {
      const out = isWhole ? logits : logits.slice(1, vocab.start, vocab.start + vocab.count);
      linear({ x, weight: lmHead, outDtype: 'f32' }, { ...step.on, out });
    }
    if (!isWhole) this.#communicator?.allReduce(logits, step.stream);
  }
}
