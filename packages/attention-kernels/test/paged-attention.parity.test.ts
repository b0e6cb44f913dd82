import {
  describeEachBackend,
  downloadRaw,
  expectClose,
  poison,
  upload,
} from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { loadAttentionKernels, pagedAttention } from '../src/index.js';
import { pagedAttentionCases } from './cases/paged-attention.js';
import { sliceBatch, uploadBatch } from './makers/device-batch.js';
import { freshSeed, seedNote } from './makers/fresh-seed.js';
import { once } from './makers/once.js';
import { makePagedBatch, type PagedBatchSpec } from './makers/paged-batch.js';
import { readNumbers } from './makers/read-numbers.js';
import { m3, multiHead, odd, t32, t128 } from './makers/shapes.js';
import { attentionTolerance } from './makers/tolerances.js';
import { referenceAttention } from './reference/paged-attention.js';

const batchOf = once((spec: PagedBatchSpec) => makePagedBatch({ ...spec, seed: freshSeed }));
const expectedOf = once((spec: PagedBatchSpec) => referenceAttention(batchOf(spec)));

describeEachBackend(
  'pagedAttention',
  pagedAttentionCases,
  async ({ stream, runtime }, testCase) => {
    await loadAttentionKernels(runtime);
    const batch = batchOf(testCase);
    const width = testCase.heads * testCase.headDim;
    const out = stream.tensor([batch.tokens, width], testCase.dtype);
    poison(stream, out);
    pagedAttention(uploadBatch(stream, batch), { stream, out });
    const actual = await readNumbers(stream, out);
    expectClose(actual, expectedOf(testCase), {
      ...attentionTolerance[testCase.dtype],
      message: seedNote,
    });
  },
);

const chunkCases = [
  {
    name: 'T32',
    dtype: 'bf16',
    ...t32,
    sequences: [{ context: 61, tokens: 61 }],
    chunks: [13, 29],
  },
  {
    name: 'odd sizes',
    dtype: 'f32',
    ...odd,
    sequences: [{ context: 44, tokens: 44 }],
    chunks: [7],
  },
  { name: 'M3', dtype: 'bf16', ...m3, sequences: [{ context: 140, tokens: 20 }], chunks: [5, 9] },
  {
    name: 'more tokens than a decode step',
    dtype: 'bf16',
    ...multiHead,
    sequences: [{ context: 2110, tokens: 90 }],
    chunks: [3, 70],
  },
  {
    name: 'more tokens than a decode step, heads of 128',
    dtype: 'bf16',
    ...t128,
    sequences: [{ context: 2120, tokens: 80 }],
    chunks: [3, 72],
  },
] as const;

describeEachBackend(
  'pagedAttention gives a token the same bits whole, in chunks and as a decode step',
  chunkCases,
  async ({ stream, runtime }, testCase) => {
    await loadAttentionKernels(runtime);
    const batch = batchOf(testCase);
    const tensors = uploadBatch(stream, batch);
    const bits = async (start: number, end: number) => {
      const part = sliceBatch(tensors, start, end);
      return downloadRaw(stream, pagedAttention(part, { stream }));
    };
    const whole = await bits(0, batch.tokens);
    const borders = [0, ...testCase.chunks, batch.tokens];
    const single = Array.from({ length: batch.tokens + 1 }, (_, i) => i);
    for (const cuts of [borders, single]) {
      const parts: Uint8Array[] = [];
      for (const [i, start] of cuts.slice(0, -1).entries()) {
        parts.push(await bits(start, cuts[i + 1] ?? start));
      }
      expect(Buffer.compare(Buffer.concat(parts), Buffer.from(whole))).toBe(0);
    }
  },
);

const edgeCases = [{ name: 'T32' }];

describeEachBackend(
  'pagedAttention skips pages and sequences that do not exist, and takes no tokens',
  edgeCases,
  async ({ stream, runtime }) => {
    await loadAttentionKernels(runtime);
    const sequences = [{ context: 30, tokens: 2 }];
    const batch = makePagedBatch({ ...t32, dtype: 'f32', sequences });
    const pageTable = batch.pageTable.slice();
    pageTable[1] = -1;
    pageTable[2] = batch.pages; // outside the cache
    const tensors = uploadBatch(stream, batch);
    const table = upload(stream, pageTable, [1, batch.maxPages], 'i32');
    const skipped = pagedAttention({ ...tensors, pageTable: table }, { stream });
    const expected = referenceAttention(batch, (_, __, block) => block !== 1 && block !== 2);
    expectClose(await readNumbers(stream, skipped), expected, attentionTolerance.f32);

    const sequenceIds = upload(stream, Int32Array.of(7, -1), [2], 'i32');
    const unknown = pagedAttention({ ...tensors, sequenceIds }, { stream });
    expect(new Set(await readNumbers(stream, unknown))).toEqual(new Set([0]));

    const none = sliceBatch(tensors, 0, 0);
    expect(pagedAttention(none, { stream }).shape).toEqual([0, 256]);
  },
);
