import type { LaunchConfig } from '@altstream/cuda-runtime';

/** What decides how q/k norm and RoPE run. */
export interface QkNormRopeShape {
  readonly tokens: number;
  /** Query heads, key heads and, if there is an index pair, its heads and its key: all that are done. */
  readonly allHeads: number;
  readonly dtype: 'bf16' | 'f32';
}

/** How q/k norm and RoPE run. */
export interface QkNormRopePlan {
  readonly kernel: 'qk_norm_rope_bf16' | 'qk_norm_rope_f32';
  readonly config: LaunchConfig;
  readonly workspaceBytes: 0;
}

// Four warps, a head each: a head is a few hundred bytes, too little for more than a warp.
const headsPerBlock = 4;

/** A block per token and four heads; angles are formed per block, not read from a table. */
export function planQkNormRope({ tokens, allHeads, dtype }: QkNormRopeShape): QkNormRopePlan {
  return {
    kernel: `qk_norm_rope_${dtype}`,
    config: { grid: [tokens, Math.ceil(allHeads / headsPerBlock)], block: [headsPerBlock * 32] },
    workspaceBytes: 0,
  };
}
