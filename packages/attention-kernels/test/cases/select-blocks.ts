import type { PagedBatchSpec } from '../makers/paged-batch.js';
import { m3, odd, t32, t128 } from '../makers/shapes.js';

/** A batch and a choice. */
export interface SelectBlocksCase extends PagedBatchSpec {
  readonly name: string;
  readonly topkBlocks: number;
  readonly scoreType?: 'max' | 'lse';
  readonly initBlocks?: number;
  readonly localBlocks?: number;
  readonly scratchBytes?: number;
}

const sequences = [
  { context: 90, tokens: 90 },
  { context: 33, tokens: 1 },
];
const t32Case = { dtype: 'f32', ...t32, topkBlocks: 4, sequences, padding: 2 } as const;

/** The golden shapes; options of the choice; scratch for one token at a time. */
export const selectBlocksCases: readonly SelectBlocksCase[] = [
  { name: 'T32', ...t32Case },
  { name: 'T32, bf16', ...t32Case, dtype: 'bf16' },
  { name: 'T32, lse, first block forced', ...t32Case, scoreType: 'lse', initBlocks: 1 },
  { name: 'T32, three last blocks forced', ...t32Case, localBlocks: 3 },
  { name: 'T32, scratch for one token', ...t32Case, scratchBytes: 1 },
  { name: 'T32, scratch for seven tokens', ...t32Case, scratchBytes: 7 * 2 * 13 * 4 },
  {
    ...{ name: 'T128', dtype: 'bf16', ...t128, topkBlocks: 4 },
    sequences: [
      { context: 900, tokens: 3 },
      { context: 514, tokens: 4 },
    ],
  },
  {
    name: 'M3 heads',
    dtype: 'bf16',
    ...m3,
    topkBlocks: 2,
    sequences: [{ context: 600, tokens: 3 }],
  },
  { name: 'odd sizes', dtype: 'f32', ...odd, topkBlocks: 5, sequences, interleaved: true },
];
