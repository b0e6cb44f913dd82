/** Keys, values and index keys of all layers, in pages. */

import { type Device, Tensor } from '@altstream/cuda-runtime';
import type { LayerKind, ModelConfig } from './config/model-config.js';
import type { Range } from './loader/shard.js';

/** Type of activations and of the cache. */
export type ActivationDType = 'f32' | 'bf16';

/** The cache of one layer. */
export interface LayerCache {
  /** [pages, pageTokens, kvHeads, headDim] */
  readonly k: Tensor;
  readonly v: Tensor;
  /** [pages, pageTokens, indexDim], on sparse layers of a rank with heads: one key a token for all. */
  readonly indexKeys: Tensor | undefined;
}

/** Sizes of a cache. */
export interface CacheShape {
  readonly config: ModelConfig;
  /** KV heads that this rank holds. */
  readonly kvHeads: Range;
  /** Tokens of a page, which is a block of sparse attention. */
  readonly pageTokens: number;
  readonly dtype: ActivationDType;
}

/** Page size of models without sparse layers. */
const densePageTokens = 128;

/** Tokens of a page: the block of sparse attention, since a chosen block is one page. */
export function pageTokensOf(config: ModelConfig): number {
  return config.sparse?.blockTokens ?? densePageTokens;
}

/** Bytes of one page over all layers; 0 on a rank without heads. */
export function pageBytesOf(shape: CacheShape): number {
  const { config, kvHeads, pageTokens, dtype } = shape;
  const perToken = config.layers.map(({ attention }) => {
    return 2 * kvHeads.count * config.headDim + (indexDimOf(attention, shape) ?? 0);
  });
  const elements = perToken.reduce((sum, count) => sum + count, 0) * pageTokens;
  return elements * (dtype === 'f32' ? 4 : 2);
}

/** A rank without heads chooses no blocks. */
function indexDimOf(
  attention: LayerKind['attention'],
  { config, kvHeads }: CacheShape,
): number | undefined {
  return attention === 'sparse' && kvHeads.count > 0 ? config.sparse?.indexDim : undefined;
}

/** Device memory for a number of pages. What is in a page is decided by whoever writes slots. */
export class KvCache {
  readonly pages: number;
  readonly layers: readonly LayerCache[];

  constructor(device: Device, pages: number, shape: CacheShape) {
    const { config, kvHeads, pageTokens, dtype } = shape;
    this.pages = pages;
    const made: Tensor[] = [];
    const make = (label: string, tail: readonly number[]): Tensor => {
      const tensor = Tensor.allocate(device, [pages, pageTokens, ...tail], dtype, { label });
      made.push(tensor);
      return tensor;
    };
    const heads = [kvHeads.count, config.headDim];
    try {
      this.layers = config.layers.map(({ attention }, layer) => {
        const indexDim = indexDimOf(attention, shape);
        return {
          k: make(`cache.${layer}.k`, heads),
          v: make(`cache.${layer}.v`, heads),
          indexKeys:
            indexDim === undefined ? undefined : make(`cache.${layer}.indexKeys`, [indexDim]),
        };
      });
    } catch (error) {
      // Nobody else could free the layers that fitted.
      for (const tensor of made) tensor.dispose();
      throw error;
    }
  }

  /** Frees the memory. */
  dispose(): void {
    for (const { k, v, indexKeys } of this.layers) {
      k.dispose();
      v.dispose();
      indexKeys?.dispose();
    }
  }
}
