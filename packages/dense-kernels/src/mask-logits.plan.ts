import type { DeviceLimits, LaunchConfig } from '@altstream/cuda-runtime';

/** What the plan depends on. */
export interface MaskLogitsShape {
  /** Rows to mask. */
  readonly count: number;
  readonly vocab: number;
}

/** How rows of logits are masked. */
export interface MaskLogitsPlan {
  readonly kernel: 'mask_logits_f32';
  readonly config: LaunchConfig;
  readonly workspaceBytes: 0;
}

const threads = 256;
const blocksPerProcessor = 8; // enough to fill 2048 threads; more goes round in the kernel
const mostRowsOfBlocks = 65_535;

/** A row of blocks a row of logits, no more of them than the device holds at once. */
export function planMaskLogits(
  { count, vocab }: MaskLogitsShape,
  { processors }: DeviceLimits,
): MaskLogitsPlan {
  const high = Math.max(1, Math.min(count, mostRowsOfBlocks));
  const resident = Math.max(1, Math.floor((processors * blocksPerProcessor) / high));
  const wide = Math.max(1, Math.min(Math.ceil(vocab / threads), resident));
  return {
    kernel: 'mask_logits_f32',
    config: { grid: [wide, high], block: [threads] },
    workspaceBytes: 0,
  };
}
