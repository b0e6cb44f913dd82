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

/**
 * A grid that is resident at once: with one block a token, blocks that wait for the experts would
 * fill every slot of a GPU (docs/finalize.md).
 */
export function planFinalize(
  { tokens, dtype }: FinalizeShape,
  device: DeviceLimits,
  pdl: PdlChooser,
): KernelPlan {
  const blocks = Math.min(tokens, device.processors * blocksPerProcessor);
  return planKernel({ kernel: `finalize_${dtype}`, blocks, threads: 256, tokens }, device, pdl);
}
