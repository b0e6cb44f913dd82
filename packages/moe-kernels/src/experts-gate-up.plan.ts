import type { DeviceLimits } from '@altstream/cuda-runtime';
import { planExperts } from './experts/experts.plan.js';
import type { ExpertsCall, ExpertsPlan, ExpertsShape } from './experts/experts.shape.js';
import type { PdlChooser } from './pdl.js';

/** Channels that one unit of work computes on the CPU; the kernel's `kChannels`. */
export const gateUpChannels = 32;

/**
 * Units of experts without rows are not made; how many there are is known to the device alone.
 *
 * @throws ArgumentRangeError when the path that is asked for cannot be had
 */
export function planExpertsGateUp(
  shape: ExpertsShape,
  device: DeviceLimits,
  pdl: PdlChooser,
  call: ExpertsCall = {},
): ExpertsPlan {
  const projection = {
    kernel: 'experts_gate_up',
    columns: shape.hidden,
    outputs: shape.intermediate,
    rowTileOutputs: 8,
    cpuOutputs: gateUpChannels,
    rows: shape.tokens,
  } as const;
  const plan = planExperts(projection, shape, device, pdl, call);
  if (plan.pack) return plan;
  return { ...plan, workspaceBytes: packedBytes(shape, shape.hidden, device) };
}

const packedColumns = 64; // columns that AMX code decodes at once

/** Bytes of all rows in the order that AMX tiles want; 0 where they are not used. */
export function packedBytes(shape: ExpertsShape, columns: number, device: DeviceLimits): number {
  const { tokens, k, weights, activations } = shape;
  if (device.cpuLevel !== 'amx' || activations !== 'bf16' || weights === 'f32') return 0;
  return tokens * k * Math.ceil(columns / packedColumns) * packedColumns * 2;
}
