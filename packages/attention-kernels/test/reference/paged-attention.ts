// Attention in float64, one query row at a time.
import type { PagedBatch } from '../makers/paged-batch.js';

/** Whether the row may look at a block; causality is apart from this. */
export type BlockFilter = (token: number, kvHead: number, block: number) => boolean;

/** [tokens, heads · headDim]. Keys come from the cache through the page table. */
export function referenceAttention(
  batch: PagedBatch,
  isAllowed: BlockFilter = () => true,
): Float64Array {
  const { spec, tokens, maxPages } = batch;
  const { heads, kvHeads, headDim, pageTokens } = spec;
  const out = new Float64Array(tokens * heads * headDim);
  for (let row = 0; row < tokens * heads; row += 1) {
    const token = Math.floor(row / heads);
    const kvHead = Math.floor((row % heads) / (heads / kvHeads));
    const keys: number[] = []; // where the row's keys begin in the caches
    for (let key = 0; key <= (batch.positions[token] ?? -1); key += 1) {
      const block = Math.floor(key / pageTokens);
      const page = batch.pageTable[(batch.sequenceIds[token] ?? 0) * maxPages + block] ?? -1;
      if (page < 0 || !isAllowed(token, kvHead, block)) continue;
      keys.push(((page * pageTokens + (key % pageTokens)) * kvHeads + kvHead) * headDim);
    }
    out.set(attendRow(batch, row * headDim, keys), row * headDim);
  }
  return out;
}

function attendRow({ spec, q, kCache, vCache }: PagedBatch, from: number, keys: number[]) {
  const { headDim } = spec;
  const out = new Float64Array(headDim);
  const scores = keys.map((key) => {
    let sum = 0;
    for (let d = 0; d < headDim; d += 1) sum += (q[from + d] ?? 0) * (kCache[key + d] ?? 0);
    return sum / Math.sqrt(headDim);
  });
  const largest = scores.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const weights = scores.map((score) => Math.exp(score - largest));
  const total = weights.reduce((a, b) => a + b, 0);
  for (const [i, key] of keys.entries()) {
    const weight = (weights[i] ?? 0) / total;
    for (let d = 0; d < headDim; d += 1) {
      out[d] = (out[d] ?? 0) + weight * (vCache[key + d] ?? 0);
    }
  }
  return out;
}
