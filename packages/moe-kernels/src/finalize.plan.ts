import type { DeviceLimits } from '@altstream/cuda-runtime';
import { type KernelPlan, planKernel } from './kernel-plan.js';
import type { PdlChooser } from './pdl.js';

/** What the choice depends on. */
export interface FinalizeShape {
  readonly tokens: number;
  readonly hidden: number;
  readonly dtype: 'bf16' | 'f32';
}

const blocksPerProcessor = 4;
const threads = 256;
const elements = { f32: 4, bf16: 8 } as const; // of a thread

/**
 * A grid that is resident at once, over strips of 256 threads of each token: with one block a token, blocks that wait for the experts would
 * fill every slot of a GPU (docs/finalize.md).
 */
export function planFinalize(
  { tokens, hidden, dtype }: FinalizeShape,
  device: DeviceLimits,
  pdl: PdlChooser,
): KernelPlan {
  const strips = Math.ceil(hidden / (threads * elements[dtype]));
  const blocks = Math.min(tokens * strips, device.processors * blocksPerProcessor);
  const choice = { kernel: `finalize_${dtype}`, blocks, block: [threads], tokens } as const;
  return planKernel(choice, device, pdl);
}
