import type { LaunchConfig } from '@altstream/cuda-runtime';

/** What the plan depends on. */
export interface TopLogprobsShape {
  readonly rows: number;
}

/** How the best ids are found. */
export interface TopLogprobsPlan {
  readonly kernel: 'top_logprobs';
  readonly config: LaunchConfig;
  readonly workspaceBytes: 0;
}

/** A block a row. */
export function planTopLogprobs({ rows }: TopLogprobsShape): TopLogprobsPlan {
  return {
    kernel: 'top_logprobs',
    config: { grid: [rows], block: [1024] },
    workspaceBytes: 0,
  };
}
