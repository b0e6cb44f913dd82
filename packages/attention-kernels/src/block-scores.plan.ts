import type { LaunchConfig } from '@altstream/cuda-runtime';

/** What decides how block scores run. */
export interface BlockScoresShape {
  /** Tokens of the launch. */
  readonly tokens: number;
  readonly indexHeads: number;
  /** Columns of the page table: the longest context that one launch must be able to serve. */
  readonly maxPages: number;
  readonly dtype: 'bf16' | 'f32';
}

/** How block scores run. */
export interface BlockScoresPlan {
  readonly kernel: 'block_scores_bf16' | 'block_scores_f32';
  readonly config: LaunchConfig;
  /** Size of the scores. */
  readonly workspaceBytes: number;
}

// Blocks of the context that one thread block scores; enough work to hide its start.
const pagesPerBlock = 8;

/**
 * A block per token and eight pages. The grid covers the page table, not the context: lengths stay
 * on the device, so that a captured launch is right for every later step.
 */
export function planBlockScores({
  tokens,
  indexHeads,
  maxPages,
  dtype,
}: BlockScoresShape): BlockScoresPlan {
  return {
    kernel: `block_scores_${dtype}`,
    config: { grid: [tokens, Math.ceil(maxPages / pagesPerBlock)], block: [128] },
    workspaceBytes: tokens * indexHeads * maxPages * Float32Array.BYTES_PER_ELEMENT,
  };
}
