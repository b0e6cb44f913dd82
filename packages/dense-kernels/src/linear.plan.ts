import type { DeviceLimits } from '@altstream/cuda-runtime';
import { planCudaLinear } from './linear.cuda-plan.js';
import type { LinearPlan, LinearShape } from './linear.shape.js';

const outputsPerBlock = 16;
const tokensPerBlock = 64;
const packedColumns = 64; // columns to a multiple of which AMX code pads x
const partsOfF32 = 3; // bf16 that AMX code makes of one f32 of x

/** The kernel is named after its three data types; CUDA has variants for few and many tokens. */
export function planLinear(shape: LinearShape, limits: DeviceLimits): LinearPlan {
  return limits.cpuLevel === '' ? planCudaLinear(shape, limits) : planCpuLinear(shape, limits);
}

/** A block for 16 outputs of 64 tokens. */
function planCpuLinear(shape: LinearShape, limits: DeviceLimits): LinearPlan {
  const { tokens, out, weight, x, y } = shape;
  return {
    kernel: `linear_${weight}_${x}_${y}`,
    config: {
      grid: [Math.ceil(out / outputsPerBlock), Math.ceil(tokens / tokensPerBlock)],
      block: [256],
    },
    slice: packedColumns,
    workspaceBytes: limits.cpuLevel === 'amx' ? packedBytes(shape) : 0,
  };
}

function packedBytes({ tokens, in: columns, weight, x }: LinearShape): number {
  const parts = x === 'bf16' ? 1 : partsOfF32;
  if (weight === 'f32' || (x === 'f32' && weight !== 'mxfp8')) return 0;
  return tokens * parts * Math.ceil(columns / packedColumns) * packedColumns * 2;
}
