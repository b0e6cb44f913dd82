import type { DeviceLimits, LaunchConfig } from '@altstream/cuda-runtime';
import type { LinearPlan, LinearShape } from './linear.shape.js';

const warp = 32;
const unit = 64; // columns that the kernels step by
const planeRow = 64; // bytes of a row in a plane of a stage
const stages = 4;

/** A linear on CUDA: fp32 arithmetic if a side is f32, else tensor cores. */
export function planCudaLinear(shape: LinearShape, limits: DeviceLimits): LinearPlan {
  const { weight, x, y } = shape;
  const isFma = weight === 'f32' || x === 'f32';
  const { variant, ...plan } = isFma ? planFma(shape, limits) : planTensorCores(shape, limits);
  return { kernel: `linear_${weight}_${x}_${y}${variant}`, ...plan, workspaceBytes: 0 };
}

interface VariantPlan {
  /** What follows the data types in the kernel's name. */
  readonly variant: '' | '_more' | '_stream' | '_tile' | '_wide';
  readonly config: LaunchConfig;
  readonly slice: number;
}

const fma = { mostSlices: 128, mostThreads: 256, tile: 64, manyTokens: 256 };
const few = { variant: '', outputs: 1, tokens: 4 } as const; // of a thread
const more = { variant: '_more', outputs: 4, tokens: 8 } as const;

function planFma(shape: LinearShape, limits: DeviceLimits): VariantPlan {
  const { tokens, in: columns, out, weight, isAligned } = shape;
  const { slice, slices } = sliced(columns, fma.mostSlices);
  const tiles = [Math.ceil(out / fma.tile), Math.ceil(tokens / fma.tile)] as const;
  if (tokens > fma.manyTokens || tiles[0] * tiles[1] >= limits.processors / 2) {
    return { variant: '_tile', config: { grid: tiles, block: [256] }, slice };
  }
  const isMore = weight === 'f32' && isAligned && tokens > more.tokens;
  const share = isMore ? more : few;
  const groups = Math.ceil(out / share.outputs);
  const most = Math.floor(fma.mostThreads / slices);
  const own = Math.min(most, Math.ceil(groups / limits.processors));
  return {
    variant: share.variant,
    config: {
      grid: [Math.ceil(groups / own), Math.ceil(tokens / share.tokens)],
      block: [slices * own],
    },
    slice,
  };
}

const rowTile = 16;
const tokenTile = 8;
const streamedTokens = 32; // of a block
const residentWarps = 16; // of a processor: a thread has 128 registers
const halfOfThem = 8;
const fewest = 4;
const tile = { rows: 64, tokens: 64 };
const wide = { rows: 128, tokens: 128 };

/** The weight's shape decides the slices; few tokens stream the weights, many share them in tiles. */
function planTensorCores(shape: LinearShape, limits: DeviceLimits): VariantPlan {
  const { tokens, in: columns, out, isAligned } = shape;
  const rowTiles = Math.ceil(out / rowTile);
  const { slice, slices } = sliced(columns, warpsOfABlock(rowTiles, limits));
  const block = [slices * warp] as const;
  if (!isAligned) {
    return {
      variant: '',
      config: { grid: [rowTiles, Math.ceil(tokens / tokenTile)], block },
      slice,
    };
  }
  const tiles = blocksOf(shape, tile);
  const isSmall = tiles < limits.processors / 2;
  if (tokens <= streamedTokens || (isSmall && tokens <= 4 * streamedTokens)) {
    const grid = [rowTiles, Math.ceil(tokens / streamedTokens)] as const;
    return { variant: '_stream', config: { grid, block }, slice };
  }
  const fits = sharedBytes(shape, wide) <= limits.sharedBytesPerBlockOptIn;
  const isWide = fits && blocksOf(shape, wide) >= limits.processors / 2;
  const { rows, tokens: tokensOf } = isWide ? wide : tile;
  return {
    variant: isWide ? '_wide' : '_tile',
    config: {
      grid: [Math.ceil(out / rows), Math.ceil(tokens / tokensOf)],
      block: [256],
      sharedBytes: sharedBytes(shape, isWide ? wide : tile),
    },
    slice,
  };
}

/**
 * Warps that share a row: at most half of what a processor holds, so that blocks of another stream find
 * a place beside them; half of that where only so all blocks are there at once, since a second turn of a
 * few blocks costs as much as the first. Where nothing helps, many turns hide each other.
 */
function warpsOfABlock(rowTiles: number, { processors }: DeviceLimits): number {
  const places = processors * residentWarps;
  const isSecondTurn = rowTiles * halfOfThem > places && rowTiles * fewest <= places;
  return isSecondTurn ? fewest : halfOfThem;
}

function blocksOf({ tokens, out }: LinearShape, size: typeof tile): number {
  return Math.ceil(out / size.rows) * Math.ceil(tokens / size.tokens);
}

/** Stages of one unit of weights and of x. */
function sharedBytes({ weight }: LinearShape, { rows, tokens }: typeof tile): number {
  const weightPlanes = weight === 'mxfp8' ? 1 : 2;
  return stages * planeRow * (rows * weightPlanes + tokens * 2);
}

/** Cuts a row into at most `most` slices of whole units, all but the last equally long. */
function sliced(columns: number, most: number): { slice: number; slices: number } {
  const units = Math.max(1, Math.ceil(columns / unit));
  const unitsOfSlice = Math.ceil(units / most);
  return { slice: unitsOfSlice * unit, slices: Math.ceil(units / unitsOfSlice) };
}
