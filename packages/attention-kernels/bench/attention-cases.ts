// Batches of MiniMax-M3's shape that the attention benches time: decode and prefill.
import type { PagedBatchSpec } from '../test/makers/paged-batch.js';
import { m3, t32 } from '../test/makers/shapes.js';

/** `count` sequences with `tokens` at the end of their context. */
export interface AttentionBenchCase extends Omit<PagedBatchSpec, 'sequences'> {
  readonly name: string;
  readonly topkBlocks: number;
  readonly count: number;
  readonly context: number;
  readonly tokens: number;
}

/** Decode, prefill and a chunk. */
export const attentionBenchCases: readonly AttentionBenchCase[] = [
  {
    name: 'T32 prefill',
    dtype: 'bf16',
    ...t32,
    topkBlocks: 4,
    count: 1,
    context: 256,
    tokens: 256,
  },
  { name: 'M3 decode', dtype: 'bf16', ...m3, topkBlocks: 16, count: 1, context: 1024, tokens: 1 },
  { name: 'M3 decode', dtype: 'bf16', ...m3, topkBlocks: 16, count: 1, context: 4096, tokens: 1 },
  { name: 'M3 decode', dtype: 'bf16', ...m3, topkBlocks: 16, count: 4, context: 4096, tokens: 1 },
  { name: 'M3 prefill', dtype: 'bf16', ...m3, topkBlocks: 16, count: 1, context: 256, tokens: 256 },
  { name: 'M3 chunk', dtype: 'bf16', ...m3, topkBlocks: 16, count: 1, context: 4096, tokens: 32 },
];

/** A case as a batch: sequences of the same size. */
export function batchOf(one: AttentionBenchCase) {
  const { context, tokens, count } = one;
  return { ...one, sequences: Array.from({ length: count }, () => ({ context, tokens })) };
}

/** Keys that all tokens of a batch see together, at most `limit` each. */
export function visibleKeys(positions: Int32Array, limit = Number.POSITIVE_INFINITY): number {
  return positions.reduce((sum, position) => sum + Math.min(position + 1, limit), 0);
}
