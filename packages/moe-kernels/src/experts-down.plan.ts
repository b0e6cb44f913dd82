import type { DeviceLimits } from '@altstream/cuda-runtime';
import { type ExpertsShape, packedBytes } from './experts-gate-up.plan.js';
import { type KernelPlan, planKernel } from './kernel-plan.js';
import type { PdlChooser } from './pdl.js';

/** Channels that one unit of work computes; the CPU kernel's `kChannels`. */
export const downChannels = 64;

/** One unit a (channel block, local expert), as for the gate and up projections. */
export function planExpertsDown(
  shape: ExpertsShape,
  device: DeviceLimits,
  pdl: PdlChooser,
): KernelPlan {
  const choice = {
    kernel: `experts_down_${shape.weights}_${shape.activations}`,
    blocks: Math.ceil(shape.hidden / downChannels) * shape.localExperts,
    threads: 256,
    tokens: shape.tokens,
  };
  const workspaceBytes = packedBytes(shape, shape.intermediate, device);
  return { ...planKernel(choice, device, pdl), workspaceBytes };
}
