import type { LaunchConfig } from '@altstream/cuda-runtime';

/** What decides how the choice of blocks runs. */
export interface BlockTopkShape {
  /** Tokens of the launch. */
  readonly tokens: number;
  readonly indexHeads: number;
}

/** How the choice of blocks runs. */
export interface BlockTopkPlan {
  readonly kernel: 'block_topk';
  readonly config: LaunchConfig;
  readonly workspaceBytes: 0;
}

/** A block per token and index head: each chooses from its own row of scores. */
export function planBlockTopk({ tokens, indexHeads }: BlockTopkShape): BlockTopkPlan {
  return {
    kernel: 'block_topk',
    config: { grid: [tokens, indexHeads], block: [128] },
    workspaceBytes: 0,
  };
}
