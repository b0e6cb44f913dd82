import type { LaunchConfig } from '@altstream/cuda-runtime';

/** What decides how dense attention runs. */
export interface PagedAttentionShape {
  readonly tokens: number;
  readonly kvHeads: number;
  readonly dtype: 'bf16' | 'f32';
}

/** How dense attention runs. */
export interface PagedAttentionPlan {
  readonly kernel: 'paged_attention_bf16' | 'paged_attention_f32';
  readonly config: LaunchConfig;
  readonly workspaceBytes: 0;
}

/**
 * A block per token and KV head; the CPU kernel cuts by itself. No split over the context: a split
 * would make a token's sum depend on the batch that it came in.
 */
export function planPagedAttention({
  tokens,
  kvHeads,
  dtype,
}: PagedAttentionShape): PagedAttentionPlan {
  return {
    kernel: `paged_attention_${dtype}`,
    config: { grid: [tokens, kvHeads], block: [128] },
    workspaceBytes: 0,
  };
}
