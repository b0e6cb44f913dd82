import {
  describeEachBackend,
  downloadRaw,
  expectClose,
  poison,
  upload,
} from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import {
  loadAttentionKernels,
  pagedAttention,
  selectBlocks,
  sparseAttention,
} from '../src/index.js';
import { type SparseAttentionCase, sparseAttentionCases } from './cases/sparse-attention.js';
import { sliceBatch, uploadBatch } from './makers/device-batch.js';
import { freshSeed, seedNote } from './makers/fresh-seed.js';
import { once } from './makers/once.js';
import { makePagedBatch } from './makers/paged-batch.js';
import { readNumbers } from './makers/read-numbers.js';
import { m3, odd, t32 } from './makers/shapes.js';
import { attentionTolerance } from './makers/tolerances.js';
import { referenceSelectBlocks } from './reference/select-blocks.js';
import { referenceSparseAttention } from './reference/sparse-attention.js';

const referenceOf = once((testCase: SparseAttentionCase) => {
  const { topkBlocks } = testCase;
  const batch = makePagedBatch({ ...testCase, seed: freshSeed });
  const chosen = referenceSelectBlocks(batch, { topkBlocks });
  return { batch, chosen, expected: referenceSparseAttention(batch, chosen, topkBlocks) };
});

describeEachBackend('sparseAttention', sparseAttentionCases, async (context, testCase) => {
  const { stream, runtime } = context;
  await loadAttentionKernels(runtime);
  const { topkBlocks, kvHeads, heads, headDim, dtype } = testCase;
  const { batch, chosen, expected } = referenceOf(testCase);
  const blocks = upload(stream, chosen, [kvHeads, batch.tokens, topkBlocks], 'i32');
  const out = stream.tensor([batch.tokens, heads * headDim], dtype);
  poison(stream, out);
  sparseAttention({ ...uploadBatch(stream, batch), blocks }, { stream, out });
  expectClose(await readNumbers(stream, out), expected, {
    ...attentionTolerance[dtype],
    message: seedNote,
  });
});

const equalCases = [
  { name: 'T32', dtype: 'bf16', ...t32, topkBlocks: 4, context: 50, firstDifference: 32 },
  { name: 'odd sizes', dtype: 'f32', ...odd, topkBlocks: 3, context: 40, firstDifference: 15 },
  { name: 'M3 heads', dtype: 'bf16', ...m3, topkBlocks: 1, context: 140, firstDifference: 128 },
] as const;

const equalBatchOf = once((testCase: (typeof equalCases)[number]) => {
  const { context } = testCase;
  return makePagedBatch({ ...testCase, sequences: [{ context, tokens: context }] });
});

describeEachBackend(
  'sparseAttention has the bits of pagedAttention up to exactly position topk · block − 1',
  equalCases,
  async ({ stream, runtime }, testCase) => {
    await loadAttentionKernels(runtime);
    const { context, topkBlocks, firstDifference } = testCase;
    const batch = equalBatchOf(testCase);
    const tensors = uploadBatch(stream, batch);
    const blocks = selectBlocks(tensors, { stream, topkBlocks });
    const sparse = await downloadRaw(stream, sparseAttention({ ...tensors, blocks }, { stream }));
    const dense = await downloadRaw(stream, pagedAttention(tensors, { stream }));
    const rowBytes = dense.length / context;
    const firstByte = dense.findIndex((byte, i) => byte !== sparse[i]);
    expect(Math.floor(firstByte / rowBytes)).toBe(firstDifference);
  },
);

const chunkCases = [{ name: 'T32', ...t32 }];

describeEachBackend(
  'sparseAttention gives a token the same bits whole, in chunks and as a decode step',
  chunkCases,
  async ({ stream, runtime }, testCase) => {
    await loadAttentionKernels(runtime);
    const sequences = [{ context: 77, tokens: 77 }];
    const batch = makePagedBatch({ ...testCase, dtype: 'bf16', sequences });
    const tensors = uploadBatch(stream, batch);
    const bits = async (start: number, end: number) => {
      const part = sliceBatch(tensors, start, end);
      const blocks = selectBlocks(part, { stream, topkBlocks: 4 });
      return downloadRaw(stream, sparseAttention({ ...part, blocks }, { stream }));
    };
    const whole = Buffer.from(await bits(0, 77));
    for (const cuts of [[0, 13, 45, 77], Array.from({ length: 78 }, (_, i) => i)]) {
      const parts: Uint8Array[] = [];
      for (const [i, start] of cuts.slice(0, -1).entries()) {
        parts.push(await bits(start, cuts[i + 1] ?? start));
      }
      expect(Buffer.concat(parts).equals(whole)).toBe(true);
    }
  },
);

describeEachBackend(
  'mlx-lm#1398, llama.cpp#24523: beyond topk · block the result is not dense attention',
  chunkCases,
  async ({ stream, runtime }, testCase) => {
    await loadAttentionKernels(runtime);
    const sequences = [{ context: 200, tokens: 1 }];
    const batch = makePagedBatch({ ...testCase, dtype: 'f32', sequences });
    const tensors = uploadBatch(stream, batch);
    const blocks = selectBlocks(tensors, { stream, topkBlocks: 4 });
    const sparse = await readNumbers(stream, sparseAttention({ ...tensors, blocks }, { stream }));
    const dense = await readNumbers(stream, pagedAttention(tensors, { stream }));
    expect(Math.max(...sparse.map((x, i) => Math.abs(x - (dense[i] ?? 0))))).toBeGreaterThan(0.05);
  },
);
