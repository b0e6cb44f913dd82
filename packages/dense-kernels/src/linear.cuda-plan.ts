import type { DeviceLimits, LaunchConfig } from '@altstream/cuda-runtime';
import type { LinearPlan, LinearShape } from './linear.shape.js';

const warp = 32;
const unit = 64; // columns that the kernels step by
const planeRow = 64; // bytes of a row in a plane of a stage of `_tile`
const scalePitch = 68; // bytes of a row's scales of `_stream`: two sectors, and 4 against bank conflicts
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
  readonly variant:
    | ''
    | '_few'
    | '_more'
    | '_tile'
    | '_wide'
    | '_wgmma'
    | '_spread'
    | StreamVariant['variant'];
  readonly config: LaunchConfig;
  readonly slice: number;
}

const fma = { mostSlices: 128, mostThreads: 256, tile: 64, manyTokens: 256, tokens: 4 };
const staged = { few: 1, more: 2, tokens: 8, padding: 16, partialBytes: 8 * 132 * 4 };

function planFma(shape: LinearShape, limits: DeviceLimits): VariantPlan {
  const { tokens, in: columns, out } = shape;
  const { slice, slices } = sliced(columns, fma.mostSlices);
  const tiles = [Math.ceil(out / fma.tile), Math.ceil(tokens / fma.tile)] as const;
  if (tokens > fma.manyTokens || tiles[0] * tiles[1] >= limits.processors / 2) {
    return { variant: '_tile', config: { grid: tiles, block: [256] }, slice };
  }
  const inStages = planStaged(shape, slice, slices);
  const isForStages = shape.weight === 'f32' && shape.isAligned;
  const { sharedBytes = 0 } = inStages.config;
  if (isForStages && sharedBytes <= limits.sharedBytesPerBlockOptIn) return inStages;
  const most = Math.floor(fma.mostThreads / slices);
  const own = Math.min(most, Math.ceil(out / limits.processors));
  const grid = [Math.ceil(out / own), Math.ceil(tokens / fma.tokens)] as const;
  return { variant: '', config: { grid, block: [slices * own] }, slice };
}

/** Whole rows in shared memory; two outputs a block where x would otherwise be read too often. */
function planStaged({ tokens, out, x }: LinearShape, slice: number, slices: number) {
  const variant = tokens <= staged.tokens ? 'few' : 'more';
  const outputs = staged[variant];
  const pieces = (slices * slice) / unit;
  const xBytes = pieces * (unit * (x === 'bf16' ? 2 : 4) + staged.padding);
  const weightBytes = pieces * (unit * 4 + staged.padding);
  const sharedBytes =
    outputs * (weightBytes + staged.partialBytes) + Math.min(tokens, staged.tokens) * xBytes;
  const grid = [Math.ceil(out / outputs), Math.ceil(tokens / staged.tokens)] as const;
  const config = { grid, block: [2 * slices] as const, sharedBytes };
  return { variant: `_${variant}`, config, slice } as const;
}

const rowTile = 16;
const tokenTile = 8;
const streamedTokens = 32; // more are shared in tiles where those are enough
const residentWarps = 16; // of a processor: room for two blocks of eight
const warpsOfBlock = 8;
const fewest = 4;
const tile = { rows: 64, tokens: 64 };
const wide = { rows: 128, tokens: 128 };
const wgmma = { sm: '9.0', alignBytes: 1024 }; // the one architecture that has it

/** A `_stream` kernel: tokens of a block, and units of 64 columns on their way to a warp. */
interface StreamVariant {
  readonly variant: '_stream' | '_stream_8' | '_stream_16';
  readonly tokens: number;
  readonly stages: { readonly bf16: number; readonly mxfp8: number };
}

/** As in linear_stream.cu. The second one fits every device. */
const streams = [
  { variant: '_stream', tokens: 4, stages: { bf16: 4, mxfp8: 8 } },
  { variant: '_stream_8', tokens: 8, stages: { bf16: 4, mxfp8: 5 } },
  { variant: '_stream_16', tokens: 16, stages: { bf16: 3, mxfp8: 4 } },
] as const satisfies readonly StreamVariant[];

/** As in linear_spread.cu; units of a slice, warps of a block, bytes of a unit and behind rows. */
const spread = {
  outputs: 4,
  slices: 4,
  tokens: 2,
  mostUnits: 15,
  mostWarps: 16,
  unitBytes: rowTile * unit,
  xPadding: 16,
  scalePadding: 4,
  blankBytes: rowTile * unit + 16,
};

/**
 * The weight's shape decides the slices; few tokens stream the weights, many share them in tiles.
 */
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
  const spreadPlan = planSpread(shape, slice, slices, limits);
  if (spreadPlan !== undefined) return spreadPlan;
  const tiles = blocksOf(shape, tile);
  const isSmall = tiles < limits.processors / 2;
  if (tokens <= streamedTokens || (isSmall && tokens <= 4 * streamedTokens)) {
    const { variant, tokens: tokensOf, sharedBytes } = streamOf(shape, slice, slices, limits);
    const grid = [rowTiles, Math.ceil(tokens / tokensOf)] as const;
    return { variant, config: { grid, block, sharedBytes }, slice };
  }
  return { ...tilesOf(shape, limits), slice };
}

/** Blocks of 128 outputs and tokens where they fill the device, by warpgroups if it has them. */
function tilesOf(shape: LinearShape, limits: DeviceLimits): Omit<VariantPlan, 'slice'> {
  const { sm, processors, sharedBytesPerBlockOptIn } = limits;
  const config = (size: typeof tile, moreBytes = 0) => {
    const grid = [Math.ceil(shape.out / size.rows), Math.ceil(shape.tokens / size.tokens)] as const;
    return { grid, block: [256] as const, sharedBytes: sharedBytes(shape, size) + moreBytes };
  };
  const fits = ({ sharedBytes: bytes }: { readonly sharedBytes: number }) =>
    bytes <= sharedBytesPerBlockOptIn;
  if (blocksOf(shape, wide) >= processors / 2) {
    const ofWarpgroups = config(wide, wgmma.alignBytes);
    if (sm === wgmma.sm && fits(ofWarpgroups)) return { variant: '_wgmma', config: ofWarpgroups };
    if (fits(config(wide))) return { variant: '_wide', config: config(wide) };
  }
  return { variant: '_tile', config: config(tile) };
}

/**
 * One block a multiprocessor, all with the same number of outputs, whose MXFP8 weights are all on
 * their way at once; undefined where they do not fit, or where a slice is too long.
 */
function planSpread(
  { tokens, out, weight }: LinearShape,
  slice: number,
  slices: number,
  { processors, sharedBytesPerBlockOptIn }: DeviceLimits,
): VariantPlan | undefined {
  const units = slice / unit;
  const warpsOfGroup = Math.ceil(slices / spread.slices);
  const groups = Math.ceil(Math.ceil(out / spread.outputs) / processors);
  const warps = groups * warpsOfGroup;
  const xBytes = warpsOfGroup * spread.slices * slice * 2 + spread.xPadding;
  const scaleBytes = spread.outputs * (spread.slices * units * 2 + spread.scalePadding);
  const warpBytes = scaleBytes + units * spread.unitBytes;
  const sharedBytes = tokens * xBytes + warps * warpBytes + spread.blankBytes;
  const fits =
    units <= spread.mostUnits &&
    warps <= spread.mostWarps &&
    sharedBytes <= sharedBytesPerBlockOptIn;
  if (weight !== 'mxfp8' || tokens > spread.tokens || !fits) return undefined;
  return {
    variant: '_spread',
    config: {
      grid: [Math.ceil(out / (groups * spread.outputs)), 1],
      block: [warps * warp],
      sharedBytes,
    },
    slice,
  };
}

/** The kernel for the fewest tokens a block that has them all, as far as shared memory goes. */
function streamOf(shape: LinearShape, slice: number, slices: number, limits: DeviceLimits) {
  const [few, eight, sixteen] = streams;
  const place = (stream: StreamVariant) => {
    const { stages, stageBytes, scaleBytes } = ringOf(shape, stream, slice);
    const blankBytes = stageBytes + scaleBytes; // what a block practises on while it waits
    const sharedBytes = slices * (stages * stageBytes + scaleBytes) + blankBytes;
    const fits = sharedBytes <= limits.sharedBytesPerBlockOptIn;
    return { ...stream, sharedBytes, has: (tokens: number) => fits && tokens <= stream.tokens };
  };
  if (place(few).has(shape.tokens)) return place(few);
  const isOfEight = shape.tokens <= eight.tokens || !place(sixteen).has(1);
  return place(isOfEight ? eight : sixteen);
}

/** What a warp has in shared memory: stages of weights and x and, for MXFP8, scales. */
function ringOf({ tokens, weight }: LinearShape, stream: StreamVariant, slice: number) {
  const kind = weight === 'mxfp8' ? 'mxfp8' : 'bf16';
  const weightBytes = rowTile * unit * (kind === 'mxfp8' ? 1 : 2);
  const xBytes = Math.min(tokens, stream.tokens) * unit * 2;
  return {
    stages: Math.min(slice / unit, stream.stages[kind]),
    stageBytes: weightBytes + xBytes,
    scaleBytes: kind === 'mxfp8' ? rowTile * scalePitch : 0,
  };
}

/**
 * Warps that share a row: eight, or four where only so all blocks are there at once, since a second
 * turn of a few blocks costs as much as the first. Where nothing helps, many turns hide each other.
 */
function warpsOfABlock(rowTiles: number, { processors }: DeviceLimits): number {
  const places = processors * residentWarps;
  const isSecondTurn = rowTiles * warpsOfBlock > places && rowTiles * fewest <= places;
  return isSecondTurn ? fewest : warpsOfBlock;
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
