import {
  headsView,
  pagedAttention,
  qkNormRope,
  selectBlocks,
  sparseAttention,
} from '@altstream/attention-kernels';
import type { Tensor } from '@altstream/cuda-runtime';
import { linear } from '@altstream/dense-kernels';
import type { Communicator } from '../communicator.js';
import type { ModelConfig, SparseAttentionConfig } from '../config/model-config.js';
import type { LayerCache } from '../kv-cache.js';
import type { AttentionWeights } from '../loader/model-weights.js';
import type { HeadParts } from '../loader/shard.js';
import type { ModelStep } from '../model-step.js';
import { type ProjectionLayout, projectionLayout } from './projection-layout.js';

/** The weights of a layer and which heads they are of. */
type HeadWeights = AttentionWeights & { readonly heads: HeadParts };

/**
 * Attention of one layer; sparse layers restrict each KV group to the blocks that its index chose.
 */
export class Attention {
  readonly #layer: number;
  readonly #weights: HeadWeights;
  readonly #config: ModelConfig;
  readonly #layout: ProjectionLayout;
  readonly #communicator: Communicator | undefined;

  constructor(
    layer: number,
    config: ModelConfig,
    weights: HeadWeights,
    communicator: Communicator | undefined,
  ) {
    this.#layer = layer;
    this.#weights = weights;
    this.#config = config;
    this.#layout = projectionLayout(config, layer, weights.heads);
    this.#communicator = communicator;
  }

  /** hidden [tokens, hidden] → the same shape, summed over ranks; one without heads adds zeros. */
  forward(hidden: Tensor, step: ModelStep): Tensor {
    const out = step.workspace.tensor(hidden.shape, hidden.dtype, 'attention');
    if (this.#weights.heads.queryHeads.count === 0) step.stream.fill(out, 0);
    else this.#project(hidden, step, out);
    this.#communicator?.allReduce(out, step.stream);
    return out;
  }

  #project(hidden: Tensor, step: ModelStep, out: Tensor): void {
    step.scratch(() => {
      const projected = linear({ x: hidden, weight: this.#weights.qkv }, step.on);
      const cache = this.#cacheOf(step);
      const { q, indexQ } = this.#normAndRotate(projected, cache, step);
      const attended = this.#attend(q, indexQ, cache, step);
      linear({ x: attended, weight: this.#weights.output }, { ...step.on, out });
    });
  }

  /** Also writes the keys, the values and the index keys into the cache. */
  #normAndRotate(projected: Tensor, cache: LayerCache, step: ModelStep) {
    const { q, k, v, indexQ, indexK } = this.#layout;
    const { rotaryDim, ropeTheta, rmsNormEps } = this.#config;
    const { qNorm, kNorm, indexQNorm, indexKNorm } = this.#weights;
    const index = indexQ && indexK && { indexQ, indexK };
    const { k: kCache, v: vCache, indexKeys } = cache;
    const written = {
      v: headsView(projected, v),
      slots: step.batch.slots,
      kCache,
      vCache,
      indexKeys,
    };
    return qkNormRope(
      {
        q: headsView(projected, q),
        k: headsView(projected, k),
        qWeight: qNorm,
        kWeight: kNorm,
        positions: step.batch.positions,
        ...(index && {
          indexQ: headsView(projected, index.indexQ),
          indexK: headsView(projected, index.indexK),
          indexQWeight: indexQNorm,
          indexKWeight: indexKNorm,
        }),
      },
      { ...step.on, rotaryDim, theta: ropeTheta, eps: rmsNormEps, cache: written },
    );
  }

  #cacheOf(step: ModelStep): LayerCache {
    const cache = step.cache.layers[this.#layer];
    if (!cache) throw new RangeError(`the cache has no layer ${this.#layer}`);
    return cache;
  }

  #attend(q: Tensor, indexQ: Tensor | undefined, cache: LayerCache, step: ModelStep): Tensor {
    const { pageTable, positions, sequenceIds } = step.batch;
    const where = { pageTable, positions, sequenceIds };
    const input = { q, kCache: cache.k, vCache: cache.v, ...where };
    const { sparse } = this.#config;
    if (!indexQ || !cache.indexKeys || !sparse) return pagedAttention(input, step.on);
    const choice = { indexQ, indexKeys: cache.indexKeys, ...where };
    const blocks = selectBlocks(choice, { ...step.on, ...blockChoice(sparse) });
    step.taps?.blocks?.(this.#layer, blocks, step.stream);
    return sparseAttention({ ...input, blocks }, step.on);
  }
}

function blockChoice({ topkBlocks, initBlocks, localBlocks }: SparseAttentionConfig) {
  return { topkBlocks, initBlocks, localBlocks };
}
