import type { DeviceLimits } from '@altstream/cuda-runtime';
import type { KernelChoice } from '../kernel-plan.js';
import { maxTiles } from '../permute.plan.js';
import type { ExpertsPath, ExpertsProjection, ExpertsShape } from './experts.shape.js';
import { slotsOf } from './experts.shape.js';

// What the kernels are built with: device/expert_stream.cuh, expert_tiled.cuh, expert_simt.cuh,
// warpgroups/ring.cuh. Bytes are dynamic shared memory without the work list.
const warp = 32;
const streamWarps = 8;
const streamResident = 3;
const alone = { rows: 16, bytes: { mxfp8: 52_240, bf16: 49_696 } } as const;
const shared = { rows: 8, columns: 6144, bytes: { mxfp8: 64_016, bf16: 73_760 } } as const;
const tiled = { threads: 256, rowTiles: 8, rows: 128, resident: 1 } as const;
const simt = { threads: 256, rowTiles: 4, rows: 32, resident: 2 } as const;
const tiledBytes = { mxfp8: 100_352, bf16: 133_120 } as const;
const staticBytes = 128;
const wgmma = { threads: 384, rowTiles: 8, rows: 128, resident: 1, alignBytes: 1024 } as const;
const wgmmaBytes = {
  experts_gate_up: { mxfp8: 165_984, bf16: 182_352 },
  experts_down: { mxfp8: 182_368, bf16: 198_736 },
} as const;

/**
 * Blocks for each place on the GPU. One would fetch without a pause; but a block that finds its
 * place taken by a kernel of another stream starts late, and with two its share is half as large.
 */
const turns = 2;
const sliceColumns = { mxfp8: 256, bf16: 128 } as const;

/**
 * Warps of a multiprocessor that keep the memory busy, each with a row tile of its own: with 6 KiB
 * on the way for each, twice of what its latency asks for.
 */
const busyWarps = 16;
/** Slices for each warp from which sharing pays: the joined sums are a part of the work. */
const sharedSlices = 2;

type Launcher = (
  projection: ExpertsProjection,
  shape: ExpertsShape,
  device: DeviceLimits,
) => KernelChoice;

/** The launch of a projection on each path. */
export const launchers: Readonly<Record<ExpertsPath, Launcher>> = {
  cpu: ({ kernel, outputs, cpuOutputs }, shape) => ({
    kernel: `${kernel}_${shape.weights}_${shape.activations}`,
    blocks: Math.ceil(outputs / cpuOutputs) * shape.localExperts,
    block: [256],
    tokens: shape.tokens,
  }),
  simt: (projection, shape, device) => ({
    kernel: `${projection.kernel}_${shape.weights}_${shape.activations}`,
    blocks: blocksOf(projection, shape, device, simt),
    block: [simt.threads],
    sharedBytes: workListBytes(shape),
    tokens: shape.tokens,
  }),
  stream: (projection, shape, device) => {
    const isShared = warpsShare(projection, shape, device);
    const way = isShared ? shared : alone;
    return {
      kernel: `${projection.kernel}_${shape.weights}_bf16${isShared ? '_shared' : ''}`,
      blocks: streamBlocks(rowTileUnits(projection, shape, way.rows), isShared, device),
      block: [warp, streamWarps],
      sharedBytes: way.bytes[formatOf(shape)] + activeListBytes(shape),
      tokens: shape.tokens,
    };
  },
  tiled: (projection, shape, device) => ({
    kernel: `${projection.kernel}_${shape.weights}_bf16_tiled`,
    blocks: blocksOf(projection, shape, device, tiled),
    block: [tiled.threads],
    sharedBytes: tiledBytes[formatOf(shape)] + workListBytes(shape),
    tokens: shape.tokens,
  }),
  wgmma: (projection, shape, device) => ({
    kernel: `${projection.kernel}_${shape.weights}_bf16_wgmma`,
    blocks: blocksOf(projection, shape, device, wgmma),
    block: [wgmma.threads],
    sharedBytes: wgmmaSharedBytes(projection, shape),
    tokens: shape.tokens,
  }),
};

/** All shared memory of a block of path `tiled`. */
export function tiledBlockBytes(shape: ExpertsShape): number {
  return tiledBytes[formatOf(shape)] + staticBytes + workListBytes(shape);
}

/** All shared memory of a block of path `wgmma`. */
export function wgmmaBlockBytes(projection: ExpertsProjection, shape: ExpertsShape): number {
  return wgmmaSharedBytes(projection, shape) + staticBytes;
}

/** The stages begin at a multiple of 1024 bytes, wherever the block's memory does. */
function wgmmaSharedBytes({ kernel }: ExpertsProjection, shape: ExpertsShape): number {
  return wgmmaBytes[kernel][formatOf(shape)] + wgmma.alignBytes + workListBytes(shape);
}

/**
 * Units of work that any routing can make, at most `turns` blocks for each place: blocks stride
 * over the units that there are, so that idle ones of a captured grid cost little.
 */
function blocksOf(
  { outputs, rowTileOutputs }: ExpertsProjection,
  shape: ExpertsShape,
  { processors }: DeviceLimits,
  block: { readonly rowTiles: number; readonly rows: number; readonly resident: number },
): number {
  const columns = Math.ceil(outputs / (rowTileOutputs * block.rowTiles));
  const units = columns * maxTiles(slotsOf(shape), shape.localExperts, block.rows);
  return Math.min(units, processors * block.resident * turns);
}

/**
 * Whether the warps of a block share row tiles: there are too few for a warp each, and columns
 * enough for all warps, but not more than a block keeps sums of.
 */
function warpsShare(
  projection: ExpertsProjection,
  shape: ExpertsShape,
  { processors }: DeviceLimits,
): boolean {
  const { columns } = projection;
  const slices = Math.ceil(columns / sliceColumns[formatOf(shape)]);
  const isFew = rowTileUnits(projection, shape, shared.rows) < processors * busyWarps;
  return isFew && columns <= shared.columns && slices >= streamWarps * sharedSlices;
}

/**
 * Blocks of a streaming launch. Each takes an even share of the units that there are. Warps alone
 * take a second turn where one unit is left for each in both; below, more blocks would be shorter
 * of work than of places.
 */
function streamBlocks(units: number, isShared: boolean, { processors }: DeviceLimits): number {
  const places = processors * streamResident;
  const hasTurns = !isShared && units >= places * streamWarps * turns;
  return Math.min(units, hasTurns ? places * turns : places);
}

/** Row tiles times tiles of `rows` rows of activations that any routing can make. */
function rowTileUnits(
  { outputs, rowTileOutputs }: ExpertsProjection,
  shape: ExpertsShape,
  rows: number,
): number {
  return Math.ceil(outputs / rowTileOutputs) * maxTiles(slotsOf(shape), shape.localExperts, rows);
}

function formatOf({ weights }: ExpertsShape): 'mxfp8' | 'bf16' {
  return weights === 'mxfp8' ? 'mxfp8' : 'bf16';
}

/** Experts with rows, listed by every streaming block in shared memory. */
function activeListBytes({ localExperts }: ExpertsShape): number {
  return (localExperts + 1) * 16;
}

/** Tiles before each expert, made by every block in shared memory. */
function workListBytes({ localExperts }: ExpertsShape): number {
  return (localExperts + 1) * 4;
}
