import type { DeviceLimits, LaunchConfig } from '@altstream/cuda-runtime';

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

// Thread blocks for each processor that keep it busy.
const blocksPerProcessor = 8;

/**
 * Blocks of four warps, which take a token's heads in turn: as many for a token as the device can use,
 * since each forms the token's angles. They are not read from a table.
 */
export function planQkNormRope(
  { tokens, allHeads, dtype }: QkNormRopeShape,
  { processors }: DeviceLimits,
): QkNormRopePlan {
  const useful = Math.ceil((processors * blocksPerProcessor) / Math.max(1, tokens));
  const blocks = Math.min(Math.ceil(allHeads / headsPerBlock), useful);
  return {
    kernel: `qk_norm_rope_${dtype}`,
    config: { grid: [tokens, blocks], block: [headsPerBlock * 32] },
    workspaceBytes: 0,
  };
}
