import type { DeviceLimits, LaunchConfig } from '@altstream/cuda-runtime';

/** What the plan depends on. */
export interface SamplingShape {
  readonly rows: number;
  readonly vocab: number;
}

/** Launches, in this order, for the rows from `firstRow` on. All share one scratch. */
export interface SamplingLaunch {
  readonly kernel: 'sampling' | 'sampling_facts' | 'sampling_weights';
  readonly config: LaunchConfig;
  readonly firstRow: number;
}

/** How rows are sampled. */
export interface SamplingPlan {
  readonly launches: readonly SamplingLaunch[];
  /** Rows that have scratch at once. */
  readonly slots: number;
  readonly workspaceBytes: number;
}

/** Scratch of a CPU slot: i32 id and f32 weight of every id. */
const bytesPerCandidate = 8;

/**
 * Of `native/cuda/device/sampling_row.cuh`: ids of a part, threads of a block, scratch of a row.
 */
const cuda = { part: 2048, threads: 512, rowBytes: 38_968, partBytes: 32, mostSlots: 1024 };

/** In order of launch, with the blocks that a processor holds at once (`__launch_bounds__`). */
const cudaKernels = [
  { kernel: 'sampling_facts', resident: 3 },
  { kernel: 'sampling_weights', resident: 3 },
  { kernel: 'sampling', resident: 2 },
] as const;

/**
 * On the CPU one launch, a slot a row while there are processors for it. On CUDA three launches,
 * with as many blocks a row as the device holds at once, at most one a part of the vocabulary;
 * scratch of a row is 42 kB at 200,064 ids, so batches above 1024 rows take turns.
 */
export function planSampling(shape: SamplingShape, device: DeviceLimits): SamplingPlan {
  return device.cpuLevel === '' ? planCuda(shape, device) : planCpu(shape, device);
}

function planCpu({ rows, vocab }: SamplingShape, { processors }: DeviceLimits): SamplingPlan {
  const slots = Math.max(1, Math.min(rows, processors));
  return {
    launches: [{ kernel: 'sampling', config: { grid: [slots], block: [1] }, firstRow: 0 }],
    slots,
    workspaceBytes: slots * vocab * bytesPerCandidate,
  };
}

function planCuda({ rows, vocab }: SamplingShape, { processors }: DeviceLimits): SamplingPlan {
  const slots = Math.max(1, Math.min(rows, cuda.mostSlots));
  const parts = Math.ceil(vocab / cuda.part);
  const turns = Math.ceil(rows / slots);
  const launches = Array.from({ length: turns }, (_, turn) => {
    const firstRow = turn * slots;
    const own = Math.min(slots, rows - firstRow);
    return cudaKernels.map(({ kernel, resident }): SamplingLaunch => {
      const blocks = Math.max(1, Math.floor((processors * resident) / own));
      const grid = [Math.min(parts, blocks), own] as const;
      return { kernel, config: { grid, block: [cuda.threads] }, firstRow };
    });
  });
  return {
    launches: launches.flat(),
    slots,
    workspaceBytes: slots * (cuda.rowBytes + parts * cuda.partBytes),
  };
}
