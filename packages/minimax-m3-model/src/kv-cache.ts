/** Keys, values and index keys of all layers, in pages. */

import { type Device, type Stream, Tensor } from '@altstream/cuda-runtime';
import type { LayerKind, ModelConfig } from './config/model-config.js';
import type { Range } from './loader/shard.js';

/** Type of activations and of the cache. */
export type ActivationDType = 'f32' | 'bf16';

/** The cache of one layer. */
export interface LayerCache {
  /** [pages, pageTokens, kvHeads, headDim] */
  readonly k: Tensor;
  readonly v: Tensor;
  /**
   * [pages, pageTokens, indexDim], on sparse layers of a rank with heads: one key a token for all.
   */
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

  /** Enqueues a copy of a page over all layers. @throws RangeError for a page that is not there */
  copyPage(from: number, to: number, stream: Stream): void {
    for (const [name, page] of Object.entries({ from, to })) {
      if (Number.isInteger(page) && page >= 0 && page < this.pages) continue;
      const expected = `a page from 0 to ${this.pages - 1}`;
      throw new RangeError(`copyPage: \`${name}\` is ${page}, expected ${expected}`);
    }
    for (const tensor of this.#tensors()) {
      // A rank without heads keeps nothing.
      if (tensor.elements === 0) continue;
      // The parts are forgotten at once, so they are borrowed.
      const all = tensor.borrow();
      stream.copy(all.slice(0, to, to + 1), all.slice(0, from, from + 1));
    }
  }

  /** Frees the memory. */
  dispose(): void {
    for (const tensor of this.#tensors()) tensor.dispose();
  }

  #tensors(): Tensor[] {
    return this.layers.flatMap(({ k, v, indexKeys }) => (indexKeys ? [k, v, indexKeys] : [k, v]));
  }
}
