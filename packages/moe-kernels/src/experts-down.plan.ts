import type { DeviceLimits } from '@altstream/cuda-runtime';
import { planExperts } from './experts/experts.plan.js';
import type { ExpertsCall, ExpertsPlan, ExpertsShape } from './experts/experts.shape.js';
import { packedBytes } from './experts-gate-up.plan.js';
import type { PdlChooser } from './pdl.js';

/** Channels that one unit of work computes on the CPU; the kernel's `kChannels`. */
export const downChannels = 64;

/**
 * As for the gate and up projections.
 *
 * @throws ArgumentRangeError when the path that is asked for cannot be had
 */
export function planExpertsDown(
  shape: ExpertsShape,
  device: DeviceLimits,
  pdl: PdlChooser,
  call: ExpertsCall = {},
): ExpertsPlan {
  const projection = {
    kernel: 'experts_down',
    columns: shape.intermediate,
    outputs: shape.hidden,
    rowTileOutputs: 16,
    cpuOutputs: downChannels,
    rows: shape.tokens * shape.k,
  } as const;
  const plan = planExperts(projection, shape, device, pdl, call);
  if (plan.pack) return plan;
  return { ...plan, workspaceBytes: packedBytes(shape, shape.intermediate, device) };
}
