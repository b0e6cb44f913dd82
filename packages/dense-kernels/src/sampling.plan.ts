import type { DeviceLimits, LaunchConfig } from '@altstream/cuda-runtime';

/** What the plan depends on. */
export interface SamplingShape {
  readonly rows: number;
  readonly vocab: number;
}

/** How rows are sampled. */
export interface SamplingPlan {
  readonly kernel: 'sampling';
  readonly config: LaunchConfig;
  /** Rows worked on at once; each needs `[vocab]` ids and weights of scratch. */
  readonly slots: number;
  readonly workspaceBytes: number;
}

const threads = 1024;
const bytesPerCandidate = 8; // i32 id + f32 weight

/**
 * A block a slot, a slot a row while the device has processors for it: with a vocabulary of 200,064
 * a slot is 1.6 MB, so a batch of 256 rows would need 0.4 GB of scratch if each row had its own.
 */
export function planSampling({ rows, vocab }: SamplingShape, device: DeviceLimits): SamplingPlan {
  const slots = Math.max(1, Math.min(rows, device.processors));
  return {
    kernel: 'sampling',
    config: { grid: [slots], block: [threads] },
    slots,
    workspaceBytes: slots * vocab * bytesPerCandidate,
  };
}
