// What the plans of dense and sparse attention share.
import type { DeviceLimits, LaunchConfig } from '@altstream/cuda-runtime';

/** What decides how attention runs. */
export interface AttendShape {
  readonly tokens: number;
  /** Rows of the page table. */
  readonly sequences: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** Keys that a row can have: what the page table or the list of blocks has room for. */
  readonly mostKeys: number;
  readonly dtype: 'bf16' | 'f32';
  /** Whether queries, caches and output begin at multiples of 16 bytes. */
  readonly isAligned: boolean;
}

/** How attention runs. */
export interface AttendPlan {
  readonly kernel: string;
  readonly config: LaunchConfig;
  /** Scratch for the pieces of split rows. */
  readonly workspaceBytes: number;
  /** Pieces of a row in the scratch; 0 = rows are not split, or joined in the same launch. */
  readonly pieces: number;
  /** Keys of a piece, 0 without. */
  readonly pieceKeys: number;
}

/** The operation, as its kernels are named. */
export type AttendOperation = 'paged_attention' | 'sparse_attention';

// Rows that a warp has on tensor cores, and heads that a block of the general kernel has.
const tileRows = 16;
const generalHeads = 4;

// What native/cuda/device/fold.cuh has: keys of a step, of a piece and of a run.
const stepKeys = 32;
const pieceKeys = 128;
const runKeys = 2048;

// Steps of keys that a chunk has on their way while one is worked on, that one included.
const stagedSteps = 3;

// Blocks of a cluster that every device with clusters can place, and that the one can on which
// larger ones were measured.
const portableCluster = 8;
const measuredCluster = { sm: '9.0', blocks: 16 };

// Scratch for pieces beyond this is not worth the parallel work that it buys.
const mostScratchBytes = 64 * 2 ** 20;

const whole = { workspaceBytes: 0, pieces: 0, pieceKeys: 0 };

/** Whether tensor cores are there for the shape. */
export function hasTensorCores(
  { dtype, headDim, isAligned }: AttendShape,
  { sm }: DeviceLimits,
): boolean {
  return sm !== '' && dtype === 'bf16' && (headDim === 64 || headDim === 128) && isAligned;
}

/** On the CPU a block per token and KV head; on CUDA a warp per query head, any sizes. */
export function planGeneral(
  operation: AttendOperation,
  { tokens, heads, kvHeads, headDim, dtype }: AttendShape,
  { sm }: DeviceLimits,
): AttendPlan {
  const kernel = `${operation}_${dtype}`;
  if (sm === '') return { ...whole, kernel, config: { grid: [tokens, kvHeads], block: [128] } };
  const parts = kvHeads * Math.ceil(heads / kvHeads / generalHeads);
  const floats = stepKeys * (headDim + 1) + generalHeads * headDim;
  const sharedBytes = floats * Float32Array.BYTES_PER_ELEMENT;
  return { ...whole, kernel, config: { grid: [tokens, parts], block: [128], sharedBytes } };
}

/**
 * Four warps per token and sixteen heads of a KV head on tensor cores, which work on a piece of
 * their keys together. Few of them have their keys cut into pieces, or runs, that run at the same
 * time; the blocks of few pieces join them in the same launch, as a cluster, those of many leave
 * them to another. Cuts are at fixed places and pieces are joined in their order: the plan decides
 * speed, not one bit of the result.
 */
export function planRows(
  operation: AttendOperation,
  shape: AttendShape,
  limits: DeviceLimits,
): AttendPlan {
  const { tokens, headDim } = shape;
  const tiles = tilesOf(shape);
  const rows = tokens * tiles;
  const { pieces, keys, workspaceBytes } = planPieces(shape, rows, limits);
  const config: LaunchConfig = {
    grid: [tokens, tiles, Math.max(1, pieces)],
    block: [(32 * pieceKeys) / stepKeys],
    sharedBytes: rowsBytes(headDim),
  };
  if (keys !== pieceKeys) {
    const kernel = `${operation}_bf16_rows`;
    return { kernel, config, workspaceBytes, pieces, pieceKeys: keys };
  }
  if (isCluster(rows, pieces, limits)) {
    const kernel = `${operation}_bf16_cluster`;
    const nonPortableCluster = pieces > portableCluster;
    return { ...whole, kernel, config: { ...config, cluster: [1, 1, pieces], nonPortableCluster } };
  }
  return { kernel: `${operation}_bf16_pieces`, config, workspaceBytes, pieces, pieceKeys };
}

/** Blocks that a cluster can have: 1 before sm_90, where there are none. */
export function mostClusterBlocks({ sm }: DeviceLimits): number {
  if (sm === measuredCluster.sm) return measuredCluster.blocks;
  return Number.parseInt(sm, 10) >= 9 ? portableCluster : 1;
}

/** A warp per token and sixteen heads; as many of them as fit, at most `most`, share their keys. */
export function planChunk(shape: AttendShape, most: number, limits: DeviceLimits): AttendPlan {
  const { tokens, headDim, mostKeys } = shape;
  const bytes = (warps: number) => chunkBytes(headDim, warps * (mostKeys > runKeys ? 2 : 1));
  let warps = most;
  while (warps > 1 && bytes(warps) > limits.sharedBytesPerBlockOptIn) warps /= 2;
  const config: LaunchConfig = {
    grid: [Math.ceil(tokens / warps), tilesOf(shape)],
    block: [32 * warps],
    sharedBytes: bytes(warps),
  };
  return { ...whole, kernel: 'paged_attention_bf16_chunk', config };
}

const tilesOf = ({ heads, kvHeads }: AttendShape) =>
  kvHeads * Math.ceil(heads / kvHeads / tileRows);

// RowsShared of native/cuda/device/attend_rows.cuh: keys and values of a piece in bf16, its weights
// as two bf16 each, and each step's largest scores, its sums of a lane's columns and which keys it
// has.
function rowsBytes(headDim: number): number {
  const steps = pieceKeys / stepKeys;
  const weights = tileRows * pieceKeys * 2 * 2;
  return 2 * pieceKeys * headDim * 2 + weights + steps * (tileRows * 4 + 32 * 2 * 4 + 4);
}

// Keys and values of the steps on their way in bf16, and sixteen rows in fp32 for each time that
// rows are put aside.
function chunkBytes(headDim: number, asides: number): number {
  return stagedSteps * 2 * stepKeys * headDim * 2 + asides * tileRows * headDim * 4;
}

// Whether a row's pieces are one cluster. It holds its processors until its last block ends, and
// starts where there is room for all: that costs nothing while all rows run at the same time.
function isCluster(rows: number, pieces: number, limits: DeviceLimits): boolean {
  return pieces <= mostClusterBlocks(limits) && rows * pieces <= 2 * limits.processors;
}

// The finest cut whose scratch and grid are reasonable; none when the rows fill the device anyway.
function planPieces(
  { tokens, heads, headDim, mostKeys }: AttendShape,
  rows: number,
  { processors, maxGrid }: DeviceLimits,
) {
  const mostPieces = maxGrid[2] ?? 1;
  for (const keys of [pieceKeys, runKeys]) {
    const pieces = Math.ceil(mostKeys / keys);
    const partBytes = (headDim + 2) * Float32Array.BYTES_PER_ELEMENT;
    const workspaceBytes = tokens * heads * pieces * partBytes;
    const isReasonable = pieces <= mostPieces && workspaceBytes <= mostScratchBytes;
    if (rows < 2 * processors && pieces > 1 && isReasonable) {
      return { pieces, keys, workspaceBytes };
    }
  }
  return { pieces: 0, keys: 0, workspaceBytes: 0 };
}
