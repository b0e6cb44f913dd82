import type { TokenRange } from './arguments/token-range.js';

/** What decides how block selection is cut. */
export interface SelectBlocksShape {
  readonly tokens: number;
  readonly indexHeads: number;
  readonly maxPages: number;
}

/** How block selection is cut. */
export interface SelectBlocksPlan {
  /** One pair of launches each; all but the last have the same size. No tokens: one empty range. */
  readonly ranges: readonly TokenRange[];
  /** Size of the scores of the largest range; the ranges use the same memory in turn. */
  readonly workspaceBytes: number;
}

/**
 * Cuts the tokens so that the scores of a range fit `limitBytes`; at least one token each. A chunk
 * of 2048 tokens over a table of 8192 pages has 256 MiB of scores, of which 32 MiB exist at a time.
 */
export function planSelectBlocks(
  { tokens, indexHeads, maxPages }: SelectBlocksShape,
  limitBytes: number,
): SelectBlocksPlan {
  const tokenBytes = indexHeads * maxPages * Float32Array.BYTES_PER_ELEMENT;
  const most = Math.max(1, Math.floor(limitBytes / tokenBytes));
  const ranges: TokenRange[] = [];
  let first = 0;
  do {
    const count = Math.min(most, tokens - first);
    ranges.push({ first, count });
    first += count;
  } while (first < tokens);
  return { ranges, workspaceBytes: Math.min(most, tokens) * tokenBytes };
}
