import type { Tensor } from '@altstream/cuda-runtime';
import { embedding } from '@altstream/dense-kernels';
import type { Communicator } from '../communicator.js';
import type { ActivationDType } from '../kv-cache.js';
import type { ModelWeights } from '../loader/model-weights.js';
import type { ModelStep } from '../model-step.js';

/** Looks tokens up; ranks hold rows of the table. */
export class TokenEmbedding {
  readonly #weights: Pick<ModelWeights, 'embedding' | 'embeddingRows'>;
  readonly #dtype: ActivationDType;
  readonly #communicator: Communicator | undefined;

  constructor(
    weights: Pick<ModelWeights, 'embedding' | 'embeddingRows'>,
    dtype: ActivationDType,
    communicator: Communicator | undefined,
  ) {
    this.#weights = weights;
    this.#dtype = dtype;
    this.#communicator = communicator;
  }

  /**
   * A token is a row on one rank and zeros on all others, so the sum is exact.
   *
   * @returns [tokens, hidden]; zeros in padding rows
   */
  forward(step: ModelStep): Tensor {
    const { embedding: table, embeddingRows } = this.#weights;
    const { tokenIds: ids } = step.batch;
    const out = step.workspace.tensor([step.tokens, table.shape[1] ?? 0], this.#dtype, 'embedding');
    if (embeddingRows.count === 0) step.stream.fill(out, 0);
    else
      embedding(
        { table, ids, firstId: embeddingRows.start },
        { ...step.on, outDType: this.#dtype, out },
      );
    this.#communicator?.allReduce(out, step.stream);
    return out;
  }
}
