import type { DeviceLimits } from '@altstream/cuda-runtime';
import { type KernelPlan, planKernel } from './kernel-plan.js';
import type { PdlChooser } from './pdl.js';

/** What the choice depends on. */
export interface TopkShape {
  readonly tokens: number;
  readonly experts: number;
  readonly k: number;
  readonly logitsDtype: 'f32' | 'bf16';
}

const warpThreads = 32;
const blockThreads = 256;

/** One warp a token; the CPU runs the whole grid as one loop over tokens. */
export function planTopk(shape: TopkShape, device: DeviceLimits, pdl: PdlChooser): KernelPlan {
  const tokensPerBlock = blockThreads / warpThreads;
  const choice = {
    kernel: `topk_${shape.logitsDtype}`,
    blocks: Math.ceil(shape.tokens / tokensPerBlock),
    threads: blockThreads,
    tokens: shape.tokens,
  };
  return planKernel(choice, device, pdl);
}
