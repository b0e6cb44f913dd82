import type { LaunchConfig } from '@altstream/cuda-runtime';

/** Element types of a table and of what is gathered from it. */
export type EmbeddingDType = 'bf16' | 'f32';

/** What the plan depends on. */
export interface EmbeddingShape {
  readonly tokens: number;
  readonly hidden: number;
  readonly tableDType: EmbeddingDType;
  readonly outDType: EmbeddingDType;
}

/** How rows are gathered. */
export interface EmbeddingPlan {
  readonly kernel: string;
  readonly config: LaunchConfig;
  readonly workspaceBytes: 0;
}

/** A block a token; the kernel is named after table and output where they differ. */
export function planEmbedding(shape: EmbeddingShape): EmbeddingPlan {
  const { tokens, tableDType, outDType } = shape;
  return {
    kernel:
      tableDType === outDType
        ? `embedding_${tableDType}`
        : `embedding_${tableDType}_to_${outDType}`,
    config: { grid: [tokens], block: [256] },
    workspaceBytes: 0,
  };
}
