import type { DeviceLimits, LaunchConfig } from '@altstream/cuda-runtime';
import { isPrefill } from './is-prefill.js';

/** What decides how block scores run. */
export interface BlockScoresShape {
  /** Tokens of the launch. */
  readonly tokens: number;
  /** Rows of the page table. */
  readonly sequences: number;
  readonly indexHeads: number;
  readonly indexDim: number;
  /** Columns of the page table: the longest context that one launch must be able to serve. */
  readonly maxPages: number;
  readonly pageTokens: number;
  readonly dtype: 'bf16' | 'f32';
  readonly scoreType: 'max' | 'lse';
  /** Whether queries and keys begin at multiples of 16 bytes. */
  readonly isAligned: boolean;
}

/** How block scores run. */
export interface BlockScoresPlan {
  readonly kernel: 'block_scores_bf16' | 'block_scores_f32' | 'block_scores_bf16_mma';
  readonly config: LaunchConfig;
  /** Size of the scores. */
  readonly workspaceBytes: number;
  /** Tokens whose index heads share sixteen rows of a tensor core; 1 without. */
  readonly tileTokens: number;
}

// Rows of a tensor core, the keys of a page that a warp scores at a time there, and the most warps
// of a thread block.
const tileRows = 16;
const stepKeys = 32;
const mostWarps = 4;

// Thread blocks for each processor that keep it busy.
const blocksPerProcessor = 16;

/**
 * Thread blocks for the tokens, as many for each as the device can use: each strides over the
 * blocks of the context. On tensor cores the warps of a thread block share a block of the context;
 * elsewhere each has its own, and little work goes to as many processors as possible, a warp each.
 * Lengths stay on the device, so that a captured launch is right for every later step.
 */
export function planBlockScores(shape: BlockScoresShape, limits: DeviceLimits): BlockScoresPlan {
  const { tokens, indexHeads, maxPages, dtype } = shape;
  const isTiled = limits.sm !== '' && hasTensorCores(shape);
  const tileTokens = isTiled && isPrefill(shape) ? Math.floor(tileRows / indexHeads) : 1;
  const tiles = Math.ceil(tokens / tileTokens);
  const useful = Math.max(1, Math.ceil((limits.processors * blocksPerProcessor) / tiles));
  const isLittle = tiles * maxPages <= limits.processors * blocksPerProcessor;
  const ownBlocks = isTiled || isLittle ? 1 : mostWarps;
  const sharers = isTiled ? Math.min(Math.ceil(shape.pageTokens / stepKeys), mostWarps) : 1;
  const shares = Math.min(Math.ceil(maxPages / ownBlocks), useful, limits.maxGrid[1] ?? 1);
  return {
    kernel: isTiled ? 'block_scores_bf16_mma' : `block_scores_${dtype}`,
    config: { grid: [tiles, shares], block: [32 * ownBlocks * sharers] },
    workspaceBytes: tokens * indexHeads * maxPages * Float32Array.BYTES_PER_ELEMENT,
    tileTokens,
  };
}

function hasTensorCores({ dtype, scoreType, indexHeads, indexDim, isAligned }: BlockScoresShape) {
  const isSupported = indexHeads <= tileRows && [32, 64, 128].includes(indexDim);
  return dtype === 'bf16' && scoreType === 'max' && isSupported && isAligned;
}
