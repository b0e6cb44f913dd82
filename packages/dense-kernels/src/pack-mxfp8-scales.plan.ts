import type { LaunchConfig } from '@altstream/cuda-runtime';

/** What the plan depends on. */
export interface PackMxfp8ScalesShape {
  readonly rows: number;
  /** Scales a row: columns of the matrix / 32. */
  readonly blocks: number;
}

/** How scales are moved. */
export interface PackMxfp8ScalesPlan {
  readonly config: LaunchConfig;
  /** Bytes of the tiles, padding included. */
  readonly packedBytes: number;
  readonly workspaceBytes: 0;
}

const tileRows = 128;
const tileBlocks = 4;

/** A thread block for each tile of 128 rows x 4 scales (512 bytes). */
export function planPackMxfp8Scales({ rows, blocks }: PackMxfp8ScalesShape): PackMxfp8ScalesPlan {
  const tiles = Math.ceil(rows / tileRows) * Math.ceil(blocks / tileBlocks);
  return {
    config: { grid: [tiles], block: [128] },
    packedBytes: tiles * tileRows * tileBlocks,
    workspaceBytes: 0,
  };
}
