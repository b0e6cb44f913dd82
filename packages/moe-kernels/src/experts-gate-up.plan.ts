import type { DeviceLimits } from '@altstream/cuda-runtime';
import type { WeightFormat } from './arguments/expert-weight.js';
import { type KernelPlan, planKernel } from './kernel-plan.js';
import type { PdlChooser } from './pdl.js';

/** What the choice depends on. */
export interface ExpertsShape {
  readonly tokens: number;
  readonly k: number;
  readonly localExperts: number;
  readonly hidden: number;
  readonly intermediate: number;
  readonly weights: WeightFormat;
  readonly activations: 'bf16' | 'f32';
}

/** Channels that one unit of work computes; the CPU kernel's `kChannels`. */
export const gateUpChannels = 32;

/** One unit a (channel block, local expert); units of experts without rows end at once. */
export function planExpertsGateUp(
  shape: ExpertsShape,
  device: DeviceLimits,
  pdl: PdlChooser,
): KernelPlan {
  const choice = {
    kernel: `experts_gate_up_${shape.weights}_${shape.activations}`,
    blocks: Math.ceil(shape.intermediate / gateUpChannels) * shape.localExperts,
    threads: 256,
    tokens: shape.tokens,
  };
  const workspaceBytes = packedBytes(shape, shape.hidden, device);
  return { ...planKernel(choice, device, pdl), workspaceBytes };
}

const packedColumns = 64; // columns that AMX code decodes at once

/** Bytes of all rows in the order that AMX tiles want; 0 where they are not used. */
export function packedBytes(shape: ExpertsShape, columns: number, device: DeviceLimits): number {
  const { tokens, k, weights, activations } = shape;
  if (device.cpuLevel !== 'amx' || activations !== 'bf16' || weights === 'f32') return 0;
  return tokens * k * Math.ceil(columns / packedColumns) * packedColumns * 2;
}
