import type { PagedBatchSpec } from '../makers/paged-batch.js';
import { m3, multiHead, odd, t32, t128 } from '../makers/shapes.js';

/** A batch whose tokens attend `topkBlocks` blocks. */
export interface SparseAttentionCase extends PagedBatchSpec {
  readonly name: string;
  readonly topkBlocks: number;
}

/** Contexts beyond topk · block, chunks that end inside a block, decode and padding rows. */
export const sparseAttentionCases: readonly SparseAttentionCase[] = (
  ['f32', 'bf16'] as const
).flatMap((dtype) => [
  {
    ...{ name: `T32, ${dtype}`, dtype, ...t32, topkBlocks: 4, padding: 3 },
    sequences: [
      { context: 90, tokens: 61 },
      { context: 1, tokens: 1 },
      { context: 47, tokens: 1 },
    ],
  },
  {
    ...{ name: `T128, ${dtype}`, dtype, ...t128, topkBlocks: 4 },
    sequences: [{ context: 700, tokens: 3 }],
  },
  {
    ...{ name: `M3 heads, ${dtype}`, dtype, ...m3, topkBlocks: 2 },
    sequences: [
      { context: 10, tokens: 3 },
      { context: 390, tokens: 2 },
    ],
  },
  {
    ...{ name: `as many keys as a run and more, ${dtype}`, dtype, ...multiHead, topkBlocks: 45 },
    ...{ heads: 18, kvHeads: 1, indexHeads: 1 },
    sequences: [
      { context: 2400, tokens: 2 },
      { context: 300, tokens: 2 },
    ],
  },
  {
    ...{ name: `odd sizes, ${dtype}`, dtype, ...odd, topkBlocks: 3, interleaved: true },
    sequences: [
      { context: 44, tokens: 30 },
      { context: 40, tokens: 3 },
    ],
  },
]);
