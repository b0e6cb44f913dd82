import type { PagedBatchSpec } from '../makers/paged-batch.js';
import { m3, multiHead, odd, t32, t128 } from '../makers/shapes.js';

/** A batch for dense attention. */
export interface PagedAttentionCase extends PagedBatchSpec {
  readonly name: string;
}

const mixed = [
  { context: 90, tokens: 41 },
  { context: 1, tokens: 1 },
  { context: 33, tokens: 1 },
];

/** Prefill, decode and mixtures over the shapes of the models. */
export const pagedAttentionCases: readonly PagedAttentionCase[] = [
  ...(['f32', 'bf16'] as const).flatMap((dtype) => [
    { name: `T32, mixed, ${dtype}`, dtype, ...t32, sequences: mixed, padding: 3 },
    {
      name: `T32, interleaved sequences, ${dtype}`,
      dtype,
      ...t32,
      sequences: [
        { context: 20, tokens: 20 },
        { context: 57, tokens: 13 },
      ],
      interleaved: true,
    },
    {
      name: `T128, decode and a chunk that ends inside a block, ${dtype}`,
      dtype,
      ...t128,
      sequences: [
        { context: 300, tokens: 1 },
        { context: 141, tokens: 17 },
      ],
      padding: 1,
    },
    {
      name: `M3 heads, prefill and decode, ${dtype}`,
      dtype,
      ...m3,
      sequences: [
        { context: 9, tokens: 9 },
        { context: 200, tokens: 2 },
      ],
    },
    { name: `odd sizes, ${dtype}`, dtype, ...odd, sequences: mixed, padding: 2 },
    { name: `a KV head per head, ${dtype}`, dtype, ...multiHead, sequences: mixed },
  ]),
  {
    name: 'one token at position 0',
    dtype: 'bf16',
    ...t32,
    sequences: [{ context: 1, tokens: 1 }],
  },
  {
    name: 'head 256, a group of 24',
    dtype: 'f32',
    ...t32,
    headDim: 256,
    heads: 24,
    kvHeads: 1,
    sequences: mixed,
  },
  {
    name: 'keys of several runs, decode',
    dtype: 'bf16',
    ...multiHead,
    heads: 8,
    kvHeads: 2,
    sequences: [
      { context: 4500, tokens: 2 },
      { context: 130, tokens: 1 },
    ],
    padding: 1,
  },
  {
    name: 'more tokens than a decode step, keys of several runs, a group of 20',
    dtype: 'bf16',
    ...multiHead,
    heads: 20,
    kvHeads: 1,
    sequences: [
      { context: 2150, tokens: 30 },
      { context: 50, tokens: 37 },
    ],
    padding: 3,
  },
  {
    name: 'more tokens than a decode step, interleaved sequences',
    dtype: 'bf16',
    ...t128,
    sequences: [
      { context: 140, tokens: 40 },
      { context: 31, tokens: 31 },
    ],
    interleaved: true,
    padding: 1,
  },
  { name: 'padding rows only', dtype: 'bf16', ...t32, sequences: [], padding: 2 },
];
