import type { LaunchConfig } from '@altstream/cuda-runtime';
import type { LinearWeightKind } from './linear-weight.js';

/** What the plan depends on. */
export interface LinearShape {
  readonly tokens: number;
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
  readonly workspaceBytes: 0;
}

const outputsPerBlock = 16;
const tokensPerBlock = 64;

/** A block for 16 outputs of 64 tokens; the kernel is named after its three data types. */
export function planLinear(shape: LinearShape): LinearPlan {
  const { tokens, out, weight, x, y } = shape;
  return {
    kernel: `linear_${weight}_${x}_${y}`,
    config: {
      grid: [Math.ceil(out / outputsPerBlock), Math.ceil(tokens / tokensPerBlock)],
      block: [256],
    },
    workspaceBytes: 0,
  };
}
