import type { DeviceLimits, LaunchConfig } from '@altstream/cuda-runtime';

/** What the plan depends on. */
export interface TopLogprobsShape {
  readonly rows: number;
  readonly vocab: number;
  readonly count: number;
}

/** Launches, in this order, for the rows from `firstRow` on. All share one scratch. */
export interface TopLogprobsLaunch {
  readonly kernel: 'top_logprobs' | 'top_logprobs_parts';
  readonly config: LaunchConfig;
  readonly firstRow: number;
}

/** How the best ids are found. */
export interface TopLogprobsPlan {
  readonly launches: readonly TopLogprobsLaunch[];
  readonly workspaceBytes: number;
}

/** Of `native/cuda/device/parts.cuh` and `top_logprobs.cu`. */
const cuda = {
  part: 2048,
  threads: 512,
  factsBytes: 24,
  rankBytes: 8,
  mostSlots: 256,
  resident: 2,
};

/**
 * On the CPU one launch without scratch. On CUDA blocks over the parts of each row, then a block a
 * row; scratch of a row is 18 kB at 200,064 ids and 20 of the best. Batches above 256 rows take
 * turns.
 */
export function planTopLogprobs(shape: TopLogprobsShape, device: DeviceLimits): TopLogprobsPlan {
  return device.cpuLevel === '' ? planCuda(shape, device) : planCpu(shape);
}

function planCpu({ rows }: TopLogprobsShape): TopLogprobsPlan {
  const config: LaunchConfig = { grid: [rows], block: [1] };
  return { launches: [{ kernel: 'top_logprobs', config, firstRow: 0 }], workspaceBytes: 0 };
}

function planCuda(shape: TopLogprobsShape, { processors }: DeviceLimits): TopLogprobsPlan {
  const { rows, vocab, count } = shape;
  const slots = Math.min(rows, cuda.mostSlots);
  const parts = Math.ceil(vocab / cuda.part);
  const block = [cuda.threads] as const;
  const turns = Array.from({ length: Math.ceil(rows / slots) }, (_, turn) => {
    const firstRow = turn * slots;
    const own = Math.min(slots, rows - firstRow);
    const blocks = Math.max(1, Math.floor((processors * cuda.resident) / own));
    const grid = [Math.min(parts, blocks), own] as const;
    return [
      { kernel: 'top_logprobs_parts', config: { grid, block }, firstRow },
      { kernel: 'top_logprobs', config: { grid: [1, own], block }, firstRow },
    ] as const;
  });
  const rowBytes = parts * (cuda.factsBytes + count * cuda.rankBytes);
  return { launches: turns.flat(), workspaceBytes: slots * rowBytes };
}
