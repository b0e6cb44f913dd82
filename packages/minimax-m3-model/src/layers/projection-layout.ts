import type { HeadsPlace } from '@altstream/attention-kernels';
import type { ModelConfig } from '../config/model-config.js';
import type { HeadParts } from '../loader/shard.js';

/** Which columns of the fused projection are which heads, on this rank. */
export interface ProjectionLayout {
  readonly q: HeadsPlace;
  readonly k: HeadsPlace;
  readonly v: HeadsPlace;
  /** On sparse layers. */
  readonly indexQ: HeadsPlace | undefined;
  readonly indexK: HeadsPlace | undefined;
}

/** Order q, k, v, index q, index k. */
export function projectionLayout(
  config: ModelConfig,
  layer: number,
  { queryHeads, kvHeads: { count: kvHeads } }: HeadParts,
): ProjectionLayout {
  const { headDim } = config;
  let start = 0;
  const next = (count: number, dim: number): HeadsPlace => {
    const place = { start, heads: count, headDim: dim };
    start += count * dim;
    return place;
  };
  const [q, k, v] = [
    next(queryHeads.count, headDim),
    next(kvHeads, headDim),
    next(kvHeads, headDim),
  ];
  const sparse = config.layers[layer]?.attention === 'sparse' ? config.sparse : undefined;
  return {
    q,
    k,
    v,
    indexQ: sparse && next(kvHeads, sparse.indexDim),
    indexK: sparse && next(1, sparse.indexDim),
  };
}
