import type { LaunchConfig } from '@altstream/cuda-runtime';

/** What decides how pieces are joined. */
export interface AttentionCombineShape {
  readonly tokens: number;
  readonly heads: number;
}

/** How pieces are joined. */
export interface AttentionCombinePlan {
  readonly kernel: 'attention_combine_bf16';
  readonly config: LaunchConfig;
  readonly workspaceBytes: 0;
}

/** A block per query row, a thread per dim. */
export function planAttentionCombine({
  tokens,
  heads,
}: AttentionCombineShape): AttentionCombinePlan {
  return {
    kernel: 'attention_combine_bf16',
    config: { grid: [tokens, heads], block: [128] },
    workspaceBytes: 0,
  };
}
