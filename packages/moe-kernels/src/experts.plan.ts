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
 * How a projection runs. On a GPU: `stream` reads weights once for 16 rows of an expert (decode), `tiled`
 * multiplies tiles of 128 rows (prefill), both on bf16 tensor cores and with the same bits; `simt` takes
 * every other pair of types. The CPU has one way, `cpu`.
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

// What the kernels are built with: device/expert_stream.cuh, expert_tiled.cuh, expert_simt.cuh. Bytes
// are dynamic shared memory without the work list.
const warp = 32;
const stream = { warps: 8, rows: 16, resident: 2, bytes: 96_256 } as const;
const tiled = { threads: 256, rowTiles: 8, rows: 128, resident: 1 } as const;
const simt = { threads: 256, rowTiles: 4, rows: 32, resident: 2 } as const;
const tiledBytes = { mxfp8: 100_352, bf16: 133_120 } as const;
const tiledStaticBytes = 128;

/**
 * Blocks for each place on the GPU. One would fetch without a pause; but a block that finds its place
 * taken by a kernel of another stream starts late, and with two its share is half as large.
 */
const turns = 2;
const sliceColumns = { mxfp8: 256, bf16: 128 } as const;

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
    const sharers = warpsOfARowTile(projection.columns, shape.weights);
    const rowTiles = stream.warps / sharers;
    return {
      kernel: `${projection.kernel}_${shape.weights}_bf16`,
      blocks: blocksOf(projection, shape, device, { ...stream, rowTiles }),
      block: [warp, sharers, rowTiles],
      sharedBytes: stream.bytes + workListBytes(shape),
      tokens: shape.tokens,
    };
  },
  tiled: (projection, shape, device) => ({
    kernel: `${projection.kernel}_${shape.weights}_bf16_tiled`,
    blocks: blocksOf(projection, shape, device, tiled),
    block: [tiled.threads],
    sharedBytes: tiledBytes[shape.weights === 'mxfp8' ? 'mxfp8' : 'bf16'] + workListBytes(shape),
    tokens: shape.tokens,
  }),
};

/**
 * Units of work that any routing can make, at most `turns` blocks for each place: blocks stride over the
 * units that there are, so that idle ones of a captured grid cost little.
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
 * Warps that share the slices of 16 weight rows: as many as leave at most a third of the slices' number
 * idle in the last round.
 */
function warpsOfARowTile(columns: number, weights: WeightFormat): number {
  const slices = Math.ceil(columns / sliceColumns[weights === 'mxfp8' ? 'mxfp8' : 'bf16']);
  const isEven = (warps: number) => (Math.ceil(slices / warps) * warps - slices) * 3 <= slices;
  return [8, 4, 2].find(isEven) ?? 1;
}

/** Tiles before each expert, made by every block in shared memory. */
function workListBytes({ localExperts }: ExpertsShape): number {
  return (localExperts + 1) * 4;
}

function slotsOf({ tokens, k }: ExpertsShape): number {
  return tokens * k;
}
