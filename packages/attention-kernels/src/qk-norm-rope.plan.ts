import type { DeviceLimits, LaunchConfig } from '@altstream/cuda-runtime';

/** What decides how q/k norm and RoPE run. */
export interface QkNormRopeShape {
  readonly tokens: number;
  /**
   * Query heads, key heads and, if there is an index pair, its heads and its key: all that are
   * done.
   */
  readonly allHeads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** 0: no index pair. */
  readonly indexDim: number;
  readonly rotaryDim: number;
  readonly dtype: 'bf16' | 'f32';
  /** Whether v goes to a cache too. */
  readonly hasCache: boolean;
  /** Whether all tensors and their rows begin at multiples of 16 bytes. */
  readonly isAligned: boolean;
}

/** How q/k norm and RoPE run. */
export interface QkNormRopePlan {
  readonly kernel: 'qk_norm_rope_bf16' | 'qk_norm_rope_f32' | 'qk_norm_rope_bf16_128';
  readonly config: LaunchConfig;
  readonly workspaceBytes: 0;
}

// Four warps: a head each, a few hundred bytes; of 128 dims in bf16 two each.
const warpsPerBlock = 4;

// Thread blocks for each processor that keep it busy.
const blocksPerProcessor = 8;

/**
 * Blocks of four warps, which take a token's heads in turn: as many for a token as the device can
 * use, since each forms the token's angles. They are not read from a table.
 */
export function planQkNormRope(shape: QkNormRopeShape, limits: DeviceLimits): QkNormRopePlan {
  const { tokens, allHeads, kvHeads, dtype, hasCache } = shape;
  const isUsual = limits.sm !== '' && isUsualSize(shape);
  const units = isUsual ? Math.ceil((allHeads + (hasCache ? kvHeads : 0)) / 2) : allHeads;
  const useful = Math.ceil((limits.processors * blocksPerProcessor) / Math.max(1, tokens));
  const blocks = Math.min(Math.ceil(units / warpsPerBlock), useful);
  return {
    kernel: isUsual ? 'qk_norm_rope_bf16_128' : `qk_norm_rope_${dtype}`,
    config: { grid: [tokens, blocks], block: [warpsPerBlock * 32] },
    workspaceBytes: 0,
  };
}

// What native/cuda/qk_norm_rope_128.cu takes.
function isUsualSize({ headDim, indexDim, rotaryDim, dtype, isAligned }: QkNormRopeShape) {
  const is128 = headDim === 128 && (indexDim === 128 || indexDim === 0);
  return dtype === 'bf16' && is128 && rotaryDim % 16 === 0 && isAligned;
}
