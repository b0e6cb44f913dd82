import type { PagedBatchSpec } from '../makers/paged-batch.js';
import { m3, odd, t32 } from '../makers/shapes.js';

/** A batch whose keys are written. */
export interface KvWriteCase extends PagedBatchSpec {
  readonly name: string;
  /** k, v and index key are views of one projection. */
  readonly fused: boolean;
  /** Whether the layer has an index cache. */
  readonly indexed: boolean;
}

const sequences = [
  { context: 20, tokens: 11 },
  { context: 50, tokens: 1 },
];

/** Chunks, decode, padding rows; layers with and without index keys; rows around whole vectors. */
export const kvWriteCases: readonly KvWriteCase[] = (['f32', 'bf16'] as const).flatMap((dtype) => [
  { name: `T32, ${dtype}`, dtype, ...t32, sequences, padding: 2, fused: true, indexed: true },
  { name: `M3 heads, ${dtype}`, dtype, ...m3, sequences, padding: 1, fused: true, indexed: true },
  { name: `no index, ${dtype}`, dtype, ...t32, sequences, fused: true, indexed: false },
  { name: `odd, apart, ${dtype}`, dtype, ...odd, sequences, fused: false, indexed: true },
  ...[1, 15, 33, 63, 65].map((width) => ({
    ...{ name: `rows of ${width}, ${dtype}`, dtype, ...t32, heads: 1, kvHeads: 1, indexHeads: 1 },
    ...{ headDim: width, indexDim: 2 * width + 1, sequences, fused: true, indexed: true },
  })),
]);
