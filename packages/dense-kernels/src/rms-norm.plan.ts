import type { LaunchConfig } from '@altstream/cuda-runtime';

/** What the plan depends on. */
export interface RmsNormShape {
  readonly tokens: number;
  /** Rows of a token that are normed apart; 1 = the whole token. */
  readonly heads: number;
  /** Columns of a row. */
  readonly hidden: number;
  readonly dtype: 'bf16' | 'f32';
}

/** How rows are normed. */
export interface RmsNormPlan {
  readonly kernel: 'rms_norm_bf16' | 'rms_norm_f32';
  readonly config: LaunchConfig;
  readonly workspaceBytes: 0;
}

const columnsPerThread = 8; // 16 bytes of bf16, one vector load
const warp = 32;
const maxThreads = 1024;

/**
 * A block a row, as many warps as the row feeds; the width alone decides, so a row's bits do not
 * depend on its batch.
 */
export function planRmsNorm({ tokens, heads, hidden, dtype }: RmsNormShape): RmsNormPlan {
  const warps = Math.ceil(hidden / columnsPerThread / warp);
  return {
    kernel: `rms_norm_${dtype}`,
    config: { grid: [tokens * heads], block: [Math.min(maxThreads, Math.max(1, warps) * warp)] },
    workspaceBytes: 0,
  };
}
