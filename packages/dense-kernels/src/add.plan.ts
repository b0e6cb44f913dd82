import type { DeviceLimits, LaunchConfig } from '@altstream/cuda-runtime';

/** What the plan depends on. */
export interface AddShape {
  /** Elements. */
  readonly count: number;
  readonly dtype: 'bf16' | 'f32';
}

/** How two tensors are added. */
export interface AddPlan {
  readonly kernel: 'add_bf16' | 'add_f32';
  readonly config: LaunchConfig;
  readonly workspaceBytes: 0;
}

const threads = 256;
const elementsPerThread = 8; // 16 bytes of bf16, one vector load
const blocksPerProcessor = 8; // enough to fill 2048 threads; larger counts go round in the kernel

/** Blocks that walk over the elements, no more than the device holds at once. */
export function planAdd(shape: AddShape, device: DeviceLimits): AddPlan {
  const needed = Math.ceil(shape.count / (threads * elementsPerThread));
  const resident = Math.max(1, device.processors * blocksPerProcessor);
  return {
    kernel: `add_${shape.dtype}`,
    config: { grid: [Math.min(needed, resident)], block: [threads] },
    workspaceBytes: 0,
  };
}
