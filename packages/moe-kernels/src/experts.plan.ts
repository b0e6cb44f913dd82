import type { DeviceLimits } from '@altstream/cuda-runtime';
import type { WeightFormat } from './arguments/expert-weight.js';
import { ArgumentRangeError } from './errors/index.js';
import { isCpu, type KernelChoice, type KernelPlan, planKernel } from './kernel-plan.js';
import type { PdlChooser } from './pdl.js';
import { maxTiles } from './permute.plan.js';

/** What the choice depends on. */
export interface ExpertsShape {
  readonly tokens: number;
  readonly k: number;
  readonly localExperts: number;
  readonly hidden: number;
  readonly intermediate: number;
  readonly weights: WeightFormat;
  readonly activations: 'bf16' | 'f32';
}

/**
 * How a projection runs. On a GPU: `stream` reads weights once for 16 rows of an expert (decode;
 * where row tiles are few, the warps of a block share them), `tiled` multiplies tiles of 128 rows
 * (prefill), all on bf16 tensor cores and with the same bits; `simt` takes every other pair of
 * types. The CPU has one way, `cpu`.
 */
export type ExpertsPath = 'cpu' | 'simt' | 'stream' | 'tiled';

/** The launch of a projection. */
export interface ExpertsPlan extends KernelPlan {
  readonly path: ExpertsPath;
  /** How weights lie in memory: `plain` is row-major, as they are stored. */
  readonly layout: 'plain';
  /** Ways that were not taken, and why. */
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
}

/** One of the two projections, as its kernels see it. */
export interface ExpertsProjection {
  readonly kernel: 'experts_gate_up' | 'experts_down';
  /** Columns of the weights. */
  readonly columns: number;
  /** Columns of the result. */
  readonly outputs: number;
  /** Results of 16 weight rows: 8 where half of them are gates and half ups. */
  readonly rowTileOutputs: number;
  /** Results of a unit on the CPU. */
  readonly cpuOutputs: number;
}

/** Mean rows of an expert from which tiles of 128 beat streaming the weights again for each 16. */
const tiledFromRows = 24;

// What the kernels are built with: device/expert_stream.cuh, expert_tiled.cuh, expert_simt.cuh.
// Bytes are dynamic shared memory without the work list.
const warp = 32;
const streamWarps = 8;
const streamResident = 3;
const alone = { rows: 16, bytes: { mxfp8: 52_240, bf16: 49_696 } } as const;
const shared = { rows: 8, columns: 6144, bytes: { mxfp8: 64_016, bf16: 73_760 } } as const;
const tiled = { threads: 256, rowTiles: 8, rows: 128, resident: 1 } as const;
const simt = { threads: 256, rowTiles: 4, rows: 32, resident: 2 } as const;
const tiledBytes = { mxfp8: 100_352, bf16: 133_120 } as const;
const tiledStaticBytes = 128;

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

/** @throws ArgumentRangeError when `wanted` cannot be had */
export function planExperts(
  projection: ExpertsProjection,
  shape: ExpertsShape,
  device: DeviceLimits,
  pdl: PdlChooser,
  wanted?: 'stream' | 'tiled',
): ExpertsPlan {
  const { path, refused } = choosePath(shape, device);
  const obstacle = refused.find((other) => other.path === wanted && other.isHard);
  if (obstacle) {
    const problem = `path '${wanted}' cannot be had: ${obstacle.reason}`;
    throw new ArgumentRangeError(projection.kernel, problem);
  }
  const taken = path === 'cpu' ? path : (wanted ?? path);
  const choice = launchers[taken](projection, shape, device);
  return {
    ...planKernel(choice, device, pdl),
    path: taken,
    layout: 'plain',
    refused: refused
      .filter((other) => other.path !== taken)
      .map(({ path: other, reason }) => ({ path: other, reason })),
  };
}

interface Refusal {
  readonly path: ExpertsPath;
  readonly reason: string;
  /** Whether it could not be taken even if asked for. */
  readonly isHard: boolean;
}

function choosePath(
  shape: ExpertsShape,
  device: DeviceLimits,
): { readonly path: ExpertsPath; readonly refused: readonly Refusal[] } {
  if (isCpu(device)) return { path: 'cpu', refused: [] };
  const { weights, activations, localExperts } = shape;
  if (weights === 'f32' || activations === 'f32') {
    const reason = `${weights} weights with ${activations} activations do not fit bf16 tensor cores`;
    const refuse = (path: ExpertsPath) => ({ path, reason, isHard: true });
    return { path: 'simt', refused: [refuse('stream'), refuse('tiled')] };
  }
  const bytes = tiledBytes[weights] + tiledStaticBytes + workListBytes(shape);
  if (bytes > device.sharedBytesPerBlockOptIn) {
    const most = device.sharedBytesPerBlockOptIn;
    const reason = `tiles need ${bytes} bytes of shared memory, a block may have ${most}`;
    return { path: 'stream', refused: [{ path: 'tiled', reason, isHard: true }] };
  }
  const rows = slotsOf(shape) / Math.max(1, Math.min(localExperts, slotsOf(shape)));
  const mean = `${Number(rows.toFixed(1))} rows an expert on average`;
  if (rows < tiledFromRows) {
    const reason = `${mean}; tiles pay from ${tiledFromRows}`;
    return { path: 'stream', refused: [{ path: 'tiled', reason, isHard: false }] };
  }
  const reason = `${mean}; streaming pays below ${tiledFromRows}`;
  return { path: 'tiled', refused: [{ path: 'stream', reason, isHard: false }] };
}

type Launcher = (
  projection: ExpertsProjection,
  shape: ExpertsShape,
  device: DeviceLimits,
) => KernelChoice;

const launchers: Readonly<Record<ExpertsPath, Launcher>> = {
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
};

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

function slotsOf({ tokens, k }: ExpertsShape): number {
  return tokens * k;
}
