// Head shapes of the models that the tests use.
import type { PagedBatchSpec } from './paged-batch.js';

type Shape = Omit<PagedBatchSpec, 'dtype' | 'sequences'>;

/** The golden model T32: blocks of 8 tokens, 4 chosen. */
export const t32: Shape = {
  heads: 8,
  kvHeads: 2,
  headDim: 32,
  indexHeads: 2,
  indexDim: 32,
  pageTokens: 8,
};

/** The golden model T128: the real head and block sizes, two KV heads. */
export const t128: Shape = {
  heads: 32,
  kvHeads: 2,
  headDim: 128,
  indexHeads: 2,
  indexDim: 128,
  pageTokens: 128,
};

/** MiniMax-M3. */
export const m3: Shape = { ...t128, heads: 64, kvHeads: 4, indexHeads: 4 };

/** Nothing is a power of two: tails of vectors, of tiles and of groups. */
export const odd: Shape = {
  heads: 15,
  kvHeads: 3,
  headDim: 96,
  indexHeads: 3,
  indexDim: 20,
  pageTokens: 5,
};

/** One KV head per query head, pages longer than a tile of keys. */
export const multiHead: Shape = {
  heads: 3,
  kvHeads: 3,
  headDim: 64,
  indexHeads: 3,
  indexDim: 64,
  pageTokens: 48,
};
