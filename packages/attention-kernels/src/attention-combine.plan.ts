import type { LaunchConfig } from '@altstream/cuda-runtime';

/** What decides how pieces are joined. */
export interface AttentionCombineShape {
  readonly tokens: number;
  readonly heads: number;
  readonly headDim: number;
  /** Keys that a row can have. */
  readonly mostKeys: number;
  /** Keys of a piece: 128 or 2048. */
  readonly pieceKeys: number;
}

/** How pieces are joined. */
export interface AttentionCombinePlan {
  readonly kernel: 'attention_combine_bf16';
  readonly config: LaunchConfig;
  readonly workspaceBytes: 0;
}

// Keys of a run, whose pieces are joined first, and the most groups of threads that have runs of
// their own: those of native/cuda/attention_combine.cu.
const runKeys = 2048;
const mostGroups = 4;

/**
 * A block per query row, a thread per dim, a group of threads per run of pieces. Pieces that are
 * runs are joined one after the other: one group.
 */
export function planAttentionCombine(shape: AttentionCombineShape): AttentionCombinePlan {
  const { tokens, heads, headDim, mostKeys, pieceKeys } = shape;
  const runs = Math.ceil(mostKeys / runKeys);
  const groups = pieceKeys === runKeys ? 1 : Math.min(runs, mostGroups);
  return {
    kernel: 'attention_combine_bf16',
    config: { grid: [tokens, heads], block: [headDim > 64 ? 128 : 64, groups] },
    workspaceBytes: 0,
  };
}
