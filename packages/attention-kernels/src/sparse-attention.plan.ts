import type { LaunchConfig } from '@altstream/cuda-runtime';

/** What decides how sparse attention runs. */
export interface SparseAttentionShape {
  readonly tokens: number;
  readonly kvHeads: number;
  readonly dtype: 'bf16' | 'f32';
}

/** How sparse attention runs. */
export interface SparseAttentionPlan {
  readonly kernel: 'sparse_attention_bf16' | 'sparse_attention_f32';
  readonly config: LaunchConfig;
  readonly workspaceBytes: 0;
}

/** A block per token and KV head, since each of them has its own list of blocks. */
export function planSparseAttention({
  tokens,
  kvHeads,
  dtype,
}: SparseAttentionShape): SparseAttentionPlan {
  return {
    kernel: `sparse_attention_${dtype}`,
    config: { grid: [tokens, kvHeads], block: [128] },
    workspaceBytes: 0,
  };
}
