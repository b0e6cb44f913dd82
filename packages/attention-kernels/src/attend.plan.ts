// How dense and sparse attention run: which kernel, which cut. They differ in their kernels' names and
// in that neighbours of dense attention can share keys.
import type { DeviceLimits, LaunchConfig } from '@altstream/cuda-runtime';

/** What decides how attention runs. */
export interface AttendShape {
  readonly tokens: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** Keys that a row can have: what the page table or the list of blocks has room for. */
  readonly mostKeys: number;
  readonly dtype: 'bf16' | 'f32';
  /** Whether queries, caches and output begin at multiples of 16 bytes. */
  readonly isAligned: boolean;
}

/** The operation, as its kernels are named. */
export type AttendOperation = 'paged_attention' | 'sparse_attention';

/** How attention runs. */
export interface AttendPlan {
  readonly kernel: string;
  readonly config: LaunchConfig;
  /** Scratch for the pieces of split rows. */
  readonly workspaceBytes: number;
  /** Pieces of a row in the scratch; 0 = rows are not split. */
  readonly pieces: number;
  /** Keys of a piece, 0 without. */
  readonly pieceKeys: number;
}

/** How the pieces of split rows are joined: a block per row. */
export function planAttentionCombine({ tokens, heads }: AttendShape): {
  readonly kernel: 'attention_combine_bf16';
  readonly config: LaunchConfig;
} {
  return { kernel: 'attention_combine_bf16', config: { grid: [tokens, heads], block: [128] } };
}

// Rows that a warp has on tensor cores, and heads that a block of the general kernel has.
const tileRows = 16;
const generalHeads = 4;

// What native/cuda/device/fold.cuh has: keys of a step, of a piece and of a run.
const stepKeys = 32;
const pieceKeys = 128;
const runKeys = 2048;

// More tokens than a decode step has: neighbours are probably of one prompt.
const mostDecodeTokens = 64;
const mostChunkTokens = 8;

// Scratch for pieces beyond this is not worth the parallel work that it buys.
const mostScratchBytes = 64 * 2 ** 20;

/**
 * The kernel and its grid. On the CPU and for sizes without tensor cores a block per token and KV
 * head. On tensor cores a warp has sixteen heads of a token; few of them have their keys cut into
 * pieces that run at the same time, many tokens of dense attention share keys. Cuts are at fixed
 * places and pieces are joined in their order: the plan decides speed, not one bit of the result.
 */
export function planAttend(
  operation: AttendOperation,
  shape: AttendShape,
  limits: DeviceLimits,
): AttendPlan {
  const whole = { workspaceBytes: 0, pieces: 0, pieceKeys: 0 };
  if (limits.sm === '') return { ...whole, ...planCpu(operation, shape) };
  if (!hasTensorCores(shape)) return { ...whole, ...planGeneral(operation, shape) };
  if (operation === 'paged_attention' && shape.tokens > mostDecodeTokens) {
    return { ...whole, ...planChunk(shape, limits) };
  }
  return planRows(operation, shape, limits);
}

function planCpu(operation: AttendOperation, { tokens, kvHeads, dtype }: AttendShape) {
  return {
    kernel: `${operation}_${dtype}`,
    config: { grid: [tokens, kvHeads], block: [128] } as const,
  };
}

function hasTensorCores({ dtype, headDim, isAligned }: AttendShape): boolean {
  return dtype === 'bf16' && (headDim === 64 || headDim === 128) && isAligned;
}

function planGeneral(
  operation: AttendOperation,
  { tokens, heads, kvHeads, headDim, dtype }: AttendShape,
) {
  const parts = kvHeads * Math.ceil(heads / kvHeads / generalHeads);
  const floats = stepKeys * (headDim + 1) + generalHeads * headDim;
  const sharedBytes = floats * Float32Array.BYTES_PER_ELEMENT;
  const config: LaunchConfig = { grid: [tokens, parts], block: [128], sharedBytes };
  return { kernel: `${operation}_${dtype}`, config };
}

// Bytes of keys and values of a step, and of what a warp puts aside.
const stepBytes = (headDim: number) => 2 * stepKeys * headDim * 2;
const asideBytes = (headDim: number) => tileRows * headDim * Float32Array.BYTES_PER_ELEMENT;

const tilesOf = ({ heads, kvHeads }: AttendShape) =>
  kvHeads * Math.ceil(heads / kvHeads / tileRows);

function planChunk(shape: AttendShape, { sharedBytesPerBlockOptIn }: DeviceLimits) {
  const { tokens, headDim, mostKeys } = shape;
  const stages = 3;
  const aside = asideBytes(headDim) * (mostKeys > runKeys ? 2 : 1);
  const bytes = (warps: number) => stages * stepBytes(headDim) + warps * aside;
  let warps = mostChunkTokens;
  while (warps > 1 && bytes(warps) > sharedBytesPerBlockOptIn) warps /= 2;
  const config: LaunchConfig = {
    grid: [Math.ceil(tokens / warps), tilesOf(shape)],
    block: [32 * warps],
    sharedBytes: bytes(warps),
  };
  return { kernel: 'paged_attention_bf16_chunk', config };
}

function planRows(
  operation: AttendOperation,
  shape: AttendShape,
  limits: DeviceLimits,
): AttendPlan {
  const { tokens, headDim, mostKeys } = shape;
  const tiles = tilesOf(shape);
  const { pieces, keys, workspaceBytes } = planPieces(shape, tokens * tiles, limits);
  const asides = keys === pieceKeys ? 0 : keys === 0 && mostKeys > runKeys ? 2 : 1;
  const stages = 2;
  return {
    kernel: `${operation}_bf16_rows`,
    config: {
      grid: [tokens, tiles, Math.max(1, pieces)],
      block: [32],
      sharedBytes: stages * stepBytes(headDim) + asides * asideBytes(headDim),
    },
    workspaceBytes,
    pieces,
    pieceKeys: keys,
  };
}

// The finest cut whose scratch and grid are reasonable; none when the warps fill the device anyway.
function planPieces(
  { tokens, heads, headDim, mostKeys }: AttendShape,
  warps: number,
  { processors, maxGrid }: DeviceLimits,
) {
  const mostPieces = maxGrid[2] ?? 1;
  for (const keys of [pieceKeys, runKeys]) {
    const pieces = Math.ceil(mostKeys / keys);
    const partBytes = (headDim + 2) * Float32Array.BYTES_PER_ELEMENT;
    const workspaceBytes = tokens * heads * pieces * partBytes;
    const isReasonable = pieces <= mostPieces && workspaceBytes <= mostScratchBytes;
    if (warps < 2 * processors && pieces > 1 && isReasonable)
      return { pieces, keys, workspaceBytes };
  }
  return { pieces: 0, keys: 0, workspaceBytes: 0 };
}
