import type { PagedBatch } from '../makers/paged-batch.js';
import { referenceBlockScores } from './block-scores.js';
import { referenceBlockTopk } from './block-topk.js';

/** How many blocks are chosen, and how. */
export interface ReferenceChoice {
  readonly topkBlocks: number;
  readonly scoreType?: 'max' | 'lse';
  readonly initBlocks?: number;
  readonly localBlocks?: number;
}

/** [indexHeads, tokens, topkBlocks] from float64 scores. */
export function referenceSelectBlocks(batch: PagedBatch, choice: ReferenceChoice): Int32Array {
  const { positions, maxPages, spec } = batch;
  const { indexHeads, pageTokens } = spec;
  const scores = referenceBlockScores(batch, choice.scoreType ?? 'max');
  return referenceBlockTopk({ ...choice, scores, positions, indexHeads, maxPages, pageTokens });
}
