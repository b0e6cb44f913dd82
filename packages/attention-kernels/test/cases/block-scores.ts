import type { PagedBatchSpec } from '../makers/paged-batch.js';
import { m3, multiHead, odd, t32, t128 } from '../makers/shapes.js';

/** A batch for block scores. */
export interface BlockScoresCase extends PagedBatchSpec {
  readonly name: string;
  readonly topkBlocks: number;
  readonly scoreType: 'max' | 'lse';
}

const sequences = [
  { context: 90, tokens: 55 },
  { context: 1, tokens: 1 },
  { context: 70, tokens: 2 },
];

/** Contexts beyond topk · block, so that there is something to score. */
export const blockScoresCases: readonly BlockScoresCase[] = (['max', 'lse'] as const).flatMap(
  (scoreType) =>
    [
      ...(['f32', 'bf16'] as const).map((dtype) => ({
        ...{ name: `T32, ${dtype}, ${scoreType}`, dtype, scoreType, ...t32, sequences },
        ...{ topkBlocks: 4, padding: 2 },
      })),
      {
        ...{ name: `T128, ${scoreType}`, dtype: 'bf16', scoreType, ...t128, topkBlocks: 4 },
        sequences: [{ context: 700, tokens: 5 }],
      },
      {
        ...{ name: `more tokens than a decode step, ${scoreType}`, dtype: 'bf16', scoreType },
        ...{ ...t32, indexHeads: 3, indexDim: 64, topkBlocks: 2, padding: 1 },
        sequences: [
          { context: 100, tokens: 60 },
          { context: 40, tokens: 30 },
        ],
        interleaved: scoreType === 'lse',
      },
      {
        ...{ name: `M3 heads, ${scoreType}`, dtype: 'bf16', scoreType, ...m3, topkBlocks: 2 },
        sequences: [
          { context: 300, tokens: 1 },
          { context: 390, tokens: 9 },
        ],
      },
      {
        ...{ name: `odd sizes, ${scoreType}`, dtype: 'f32', scoreType, ...odd, topkBlocks: 3 },
        ...{ sequences, interleaved: true },
      },
      {
        ...{
          name: `pages longer than a tile, ${scoreType}`,
          dtype: 'f32',
          scoreType,
          ...multiHead,
        },
        ...{ topkBlocks: 1, sequences },
      },
      {
        ...{ name: `pages of one and a half steps, ${scoreType}`, dtype: 'bf16', scoreType },
        ...{ ...multiHead, topkBlocks: 1, sequences },
      },
      {
        ...{ name: `pages of more steps than warps, ${scoreType}`, dtype: 'bf16', scoreType },
        ...{
          ...multiHead,
          pageTokens: 200,
          topkBlocks: 1,
          sequences: [{ context: 590, tokens: 3 }],
        },
      },
    ] as const,
);
