import type { LaunchConfig } from '@altstream/cuda-runtime';

/** What the plan depends on. */
export interface DequantizeMxfp8Shape {
  readonly rows: number;
  readonly columns: number;
  readonly y: 'f32' | 'bf16';
}

/** How rows are widened. */
export interface DequantizeMxfp8Plan {
  readonly kernel: 'dequantize_mxfp8_f32' | 'dequantize_mxfp8_bf16';
  readonly config: LaunchConfig;
  readonly workspaceBytes: 0;
}

const elementsPerBlock = 4096; // 256 threads, 16 neighbours each

/** One grid over all elements. */
export function planDequantizeMxfp8(shape: DequantizeMxfp8Shape): DequantizeMxfp8Plan {
  const { rows, columns, y } = shape;
  return {
    kernel: `dequantize_mxfp8_${y}`,
    config: { grid: [Math.ceil((rows * columns) / elementsPerBlock)], block: [256] },
    workspaceBytes: 0,
  };
}
