import type { LaunchConfig } from '@altstream/cuda-runtime';

/** What the plan depends on. */
export interface SwigluOaiShape {
  readonly tokens: number;
  readonly intermediate: number;
  readonly dtype: 'bf16' | 'f32';
}

/** How the activation is computed. */
export interface SwigluOaiPlan {
  readonly kernel: 'swiglu_oai_bf16' | 'swiglu_oai_f32';
  readonly config: LaunchConfig;
  readonly workspaceBytes: 0;
}

const threads = 256; // four columns each
const columnsPerBlock = 1024; // the CPU cuts rows at the same place

/** Blocks of 1024 columns, all pieces of all tokens in one dimension. */
export function planSwigluOai({ tokens, intermediate, dtype }: SwigluOaiShape): SwigluOaiPlan {
  return {
    kernel: `swiglu_oai_${dtype}`,
    config: { grid: [tokens * Math.ceil(intermediate / columnsPerBlock)], block: [threads] },
    workspaceBytes: 0,
  };
}
