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
const threads = { few: 64, many: 256 } as const;
const elements = { f32: 4, bf16: 8 } as const; // of a thread

/**
 * Strips of a token's columns by tokens, resident at once: with one block a token, blocks that wait
 * for the experts would fill every slot of a GPU (docs/finalize.md). Few tokens take small blocks,
 * which spread over more processors.
 */
export function planFinalize(
  { tokens, hidden, dtype }: FinalizeShape,
  device: DeviceLimits,
  pdl: PdlChooser,
): KernelPlan {
  const resident = device.processors * blocksPerProcessor;
  const stripsOf = (block: number) => Math.ceil(hidden / (block * elements[dtype]));
  const isFew = tokens * stripsOf(threads.few) <= resident;
  const block = isFew ? threads.few : threads.many;
  const blocks = stripsOf(block);
  const choice = {
    kernel: `finalize_${dtype}`,
    blocks,
    blocksInY: Math.max(1, Math.min(tokens, Math.floor(resident / blocks))),
    block: [block],
    tokens,
  } as const;
  return planKernel(choice, device, pdl);
}
