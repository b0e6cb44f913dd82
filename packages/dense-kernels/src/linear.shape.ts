import type { LaunchConfig } from '@altstream/cuda-runtime';
import type { LinearWeightKind } from './linear.weight.js';

/** What the plan depends on. */
export interface LinearShape {
  readonly tokens: number;
  readonly in: number;
  readonly out: number;
  readonly weight: LinearWeightKind;
  readonly x: 'f32' | 'bf16';
  readonly y: 'f32' | 'bf16';
  /** Whether every row of x and of the weight begins at a multiple of 16 bytes. */
  readonly isAligned: boolean;
}

/** How a linear is run. */
export interface LinearPlan {
  /** `linear_<weight>_<x>_<y>`, on CUDA with the variant behind it. */
  readonly kernel: string;
  readonly config: LaunchConfig;
  /** Columns that are summed together, a multiple of 64; the same for any number of tokens. */
  readonly slice: number;
  /** For x in the order that AMX tiles want; 0 where they are not used. */
  readonly workspaceBytes: number;
}
