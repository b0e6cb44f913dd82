import type { DeviceLimits, LaunchConfig } from '@altstream/cuda-runtime';

/** What the plan depends on. */
export interface AdjustLogitsShape {
  readonly rows: number;
  readonly vocab: number;
}

/** How rows are changed and put back. */
export interface AdjustLogitsPlan {
  readonly adjust: LaunchConfig;
  readonly restore: LaunchConfig;
  readonly workspaceBytes: 0;
}

/**
 * Of `native/cuda/adjust_logits.cu`: ids worth a block, threads of a block, blocks a processor
 * holds.
 */
const cuda = { part: 2048, threads: 512, resident: 4 };

/**
 * A row is cut over as many blocks as the device holds at once, so that rows without changes, which
 * end at once, do not make a long grid. Putting back takes a block a row.
 */
export function planAdjustLogits(
  { rows, vocab }: AdjustLogitsShape,
  { cpuLevel, processors }: DeviceLimits,
): AdjustLogitsPlan {
  const block = [cpuLevel === '' ? cuda.threads : 1] as const;
  const atOnce = Math.max(1, Math.floor((processors * cuda.resident) / Math.max(1, rows)));
  const blocks = cpuLevel === '' ? Math.min(Math.ceil(vocab / cuda.part), atOnce) : 1;
  return {
    adjust: { grid: [blocks, rows], block },
    restore: { grid: [rows], block },
    workspaceBytes: 0,
  };
}
