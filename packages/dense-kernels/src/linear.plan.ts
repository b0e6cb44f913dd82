import type { DeviceLimits, LaunchConfig } from '@altstream/cuda-runtime';
import type { LinearWeightKind } from './linear-weight.js';

/** What the plan depends on. */
export interface LinearShape {
  readonly tokens: number;
  readonly in: number;
  readonly out: number;
  readonly weight: LinearWeightKind;
  readonly x: 'f32' | 'bf16';
  readonly y: 'f32' | 'bf16';
}

/** How a linear is run. */
export interface LinearPlan {
  /** `linear_<weight>_<x>_<y>`. */
  readonly kernel: string;
  readonly config: LaunchConfig;
  /** For x in the order that AMX tiles want; 0 where they are not used. */
  readonly workspaceBytes: number;
}

const outputsPerBlock = 16;
const tokensPerBlock = 64;
const packedColumns = 64; // columns to a multiple of which AMX code pads x
const partsOfF32 = 3; // bf16 that AMX code makes of one f32 of x

/** A block for 16 outputs of 64 tokens; the kernel is named after its three data types. */
export function planLinear(shape: LinearShape, limits: DeviceLimits): LinearPlan {
  const { tokens, out, weight, x, y } = shape;
  return {
    kernel: `linear_${weight}_${x}_${y}`,
    config: {
      grid: [Math.ceil(out / outputsPerBlock), Math.ceil(tokens / tokensPerBlock)],
      block: [256],
    },
    workspaceBytes: limits.cpuLevel === 'amx' ? packedBytes(shape) : 0,
  };
}

function packedBytes({ tokens, in: columns, weight, x }: LinearShape): number {
  const parts = x === 'bf16' ? 1 : partsOfF32;
  if (weight === 'f32' || (x === 'f32' && weight !== 'mxfp8')) return 0;
  return tokens * parts * Math.ceil(columns / packedColumns) * packedColumns * 2;
}
