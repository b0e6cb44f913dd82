import type { DeviceLimits } from '@altstream/cuda-runtime';
import { isCpu, type KernelPlan, planKernel } from './kernel-plan.js';
import type { PdlChooser } from './pdl.js';

/** What the choice depends on. */
export interface TopkShape {
  readonly tokens: number;
  readonly experts: number;
  readonly k: number;
  /** Groups of experts, 1 = no grouping. */
  readonly groups: number;
  readonly logitsDtype: 'f32' | 'bf16';
}

const warpThreads = 32;
const mostWarps = 8;
const mostChosen = 32;
const cheapSharedBytes = 48 * 1024; // leaves room for other blocks

/** One warp a token, its scores and keys in shared memory of its own. */
export function planTopk(shape: TopkShape, device: DeviceLimits, pdl: PdlChooser): KernelPlan {
  const { experts, groups } = shape;
  const warpBytes = 8 * ((groups > 1 ? groups : 0) + experts + mostChosen);
  const fitting = Math.max(1, Math.floor(cheapSharedBytes / warpBytes));
  const warps = isCpu(device) ? mostWarps : Math.min(mostWarps, fitting);
  const choice = {
    kernel: `topk_${shape.logitsDtype}`,
    blocks: Math.ceil(shape.tokens / warps),
    block: [warps * warpThreads],
    sharedBytes: isCpu(device) ? 0 : warps * warpBytes,
    tokens: shape.tokens,
  } as const;
  return planKernel(choice, device, pdl);
}
