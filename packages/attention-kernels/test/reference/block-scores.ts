// Scores of blocks in float64.
import type { PagedBatch } from '../makers/paged-batch.js';

/**
 * [tokens, indexHeads, maxPages]; −∞ for blocks without a visible key or without a page. `lse`
 * scales each score by indexDim^−0.5 first. NaN counts as −∞.
 */
export function referenceBlockScores(batch: PagedBatch, scoreType: 'max' | 'lse'): Float64Array {
  const { spec, tokens, maxPages } = batch;
  const { indexHeads, pageTokens } = spec;
  const scores = new Float64Array(tokens * indexHeads * maxPages).fill(Number.NEGATIVE_INFINITY);
  for (let row = 0; row < tokens * indexHeads; row += 1) {
    const token = Math.floor(row / indexHeads);
    for (let block = 0; block < maxPages; block += 1) {
      const inBlock: number[] = [];
      const last = Math.min(batch.positions[token] ?? -1, (block + 1) * pageTokens - 1);
      const page = batch.pageTable[(batch.sequenceIds[token] ?? 0) * maxPages + block] ?? -1;
      for (let key = block * pageTokens; page >= 0 && key <= last; key += 1) {
        const score = dot(batch, row, page * pageTokens + (key % pageTokens));
        if (!Number.isNaN(score)) inBlock.push(score);
      }
      if (inBlock.length === 0) continue;
      scores[row * maxPages + block] =
        scoreType === 'max' ? Math.max(...inBlock) : logSumExp(inBlock, spec.indexDim);
    }
  }
  return scores;
}

function dot({ spec, indexQ, indexKeys }: PagedBatch, row: number, slot: number): number {
  let sum = 0;
  for (let d = 0; d < spec.indexDim; d += 1) {
    sum += (indexQ[row * spec.indexDim + d] ?? 0) * (indexKeys[slot * spec.indexDim + d] ?? 0);
  }
  return sum;
}

function logSumExp(scores: readonly number[], indexDim: number): number {
  const scaled = scores.map((score) => score / Math.sqrt(indexDim));
  const largest = Math.max(...scaled);
  return largest + Math.log(scaled.reduce((sum, score) => sum + Math.exp(score - largest), 0));
}
