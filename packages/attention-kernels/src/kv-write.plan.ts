import type { LaunchConfig } from '@altstream/cuda-runtime';

/** What decides how the cache write runs. */
export interface KvWriteShape {
  readonly tokens: number;
  readonly dtype: 'bf16' | 'f32';
}

/** How the cache write runs. */
export interface KvWritePlan {
  readonly kernel: 'kv_write_bf16' | 'kv_write_f32';
  readonly config: LaunchConfig;
  readonly workspaceBytes: 0;
}

/** A block per token: its rows are one or a few kilobytes each. */
export function planKvWrite({ tokens, dtype }: KvWriteShape): KvWritePlan {
  return {
    kernel: `kv_write_${dtype}`,
    config: { grid: [tokens], block: [128] },
    workspaceBytes: 0,
  };
}
