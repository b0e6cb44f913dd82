import type { PagedBatch } from '../makers/paged-batch.js';
import { referenceAttention } from './paged-attention.js';

/** Attention in float64 to the listed blocks, [kvHeads, tokens, topkBlocks]. */
export function referenceSparseAttention(
  batch: PagedBatch,
  blocks: Int32Array,
  topkBlocks: number,
): Float64Array {
  return referenceAttention(batch, (token, kvHead, block) => {
    const start = (kvHead * batch.tokens + token) * topkBlocks;
    return blocks.subarray(start, start + topkBlocks).includes(block);
  });
}
