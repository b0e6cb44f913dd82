import type { LaunchConfig } from '@altstream/cuda-runtime';

/** What the plan depends on. */
export interface QuantizeMxfp8Shape {
  readonly rows: number;
  readonly columns: number;
  readonly x: 'f32' | 'bf16';
}

/** How rows are quantised. */
export interface QuantizeMxfp8Plan {
  readonly kernel: 'quantize_mxfp8_f32' | 'quantize_mxfp8_bf16';
  readonly config: LaunchConfig;
  readonly workspaceBytes: 0;
}

const elementsPerBlock = 2048; // 256 threads, 8 neighbours each, 4 threads a scale

/** One grid over all elements: blocks of 32 do not depend on each other. */
export function planQuantizeMxfp8({ rows, columns, x }: QuantizeMxfp8Shape): QuantizeMxfp8Plan {
  return {
    kernel: `quantize_mxfp8_${x}`,
    config: { grid: [Math.ceil((rows * columns) / elementsPerBlock)], block: [256] },
    workspaceBytes: 0,
  };
}
