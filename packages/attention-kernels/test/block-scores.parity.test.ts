import {
  describeEachBackend,
  downloadRaw,
  expectClose,
  poison,
  upload,
} from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { blockScores, loadAttentionKernels } from '../src/index.js';
import { type BlockScoresCase, blockScoresCases } from './cases/block-scores.js';
import { sliceBatch, uploadBatch } from './makers/device-batch.js';
import { freshSeed, seedNote } from './makers/fresh-seed.js';
import { once } from './makers/once.js';
import { makePagedBatch, type PagedBatch, type PagedBatchSpec } from './makers/paged-batch.js';
import { readNumbers } from './makers/read-numbers.js';
import { t32 } from './makers/shapes.js';
import { scoreTolerance } from './makers/tolerances.js';
import { referenceBlockScores } from './reference/block-scores.js';

/** Indices of the scores that the operation promises: candidates of tokens with more than topk. */
function promised({ spec, positions, maxPages }: PagedBatch, topkBlocks: number): number[] {
  const indices: number[] = [];
  for (const [token, position] of positions.entries()) {
    const candidates = Math.floor(position / spec.pageTokens) + 1;
    if (candidates <= topkBlocks) continue;
    for (let head = 0; head < spec.indexHeads; head += 1) {
      const row = (token * spec.indexHeads + head) * maxPages;
      for (let block = 0; block < candidates; block += 1) indices.push(row + block);
    }
  }
  return indices;
}

const batchOf = once((spec: PagedBatchSpec) => makePagedBatch({ ...spec, seed: freshSeed }));
const expectedOf = once((testCase: BlockScoresCase) =>
  referenceBlockScores(batchOf(testCase), testCase.scoreType),
);

describeEachBackend('blockScores', blockScoresCases, async ({ stream, runtime }, testCase) => {
  await loadAttentionKernels(runtime);
  const batch = batchOf(testCase);
  const { topkBlocks, scoreType } = testCase;
  const out = stream.tensor([batch.tokens, testCase.indexHeads, batch.maxPages], 'f32');
  poison(stream, out);
  blockScores(uploadBatch(stream, batch), { stream, topkBlocks, scoreType, out });
  const actual = await readNumbers(stream, out);
  const expected = expectedOf(testCase);
  const indices = promised(batch, topkBlocks);
  expect(indices.length).toBeGreaterThan(0);
  const pick = (from: ArrayLike<number>) => indices.map((i) => from[i] ?? Number.NaN);
  expectClose(pick(actual), pick(expected), { ...scoreTolerance, message: seedNote });
});

const chunkCases = [{ name: 'T32' }];

describeEachBackend(
  'blockScores gives a token the same bits in a batch, in a range and alone',
  chunkCases,
  async ({ stream, runtime }) => {
    await loadAttentionKernels(runtime);
    const sequences = [{ context: 83, tokens: 70 }];
    const batch = makePagedBatch({ ...t32, dtype: 'bf16', sequences });
    const options = { stream, topkBlocks: 4 };
    const tensors = uploadBatch(stream, batch);
    const whole = await downloadRaw(stream, blockScores(tensors, options));
    const rowBytes = whole.length / batch.tokens;
    for (const token of [30, 47, 69]) {
      const range = { first: token, count: 1 };
      const ranged = await downloadRaw(stream, blockScores(tensors, { ...options, range }));
      const alone = sliceBatch(tensors, token, token + 1);
      const single = await downloadRaw(stream, blockScores(alone, options));
      const bytes = (Math.floor((13 + token) / 8) + 1) * 4; // the token's own candidates, head 0
      const expected = Buffer.from(whole.slice(token * rowBytes, token * rowBytes + bytes));
      expect(Buffer.from(ranged.slice(0, bytes)).equals(expected)).toBe(true);
      expect(Buffer.from(single.slice(0, bytes)).equals(expected)).toBe(true);
    }
  },
);

describeEachBackend(
  'blockScores gives NaN keys and missing pages −∞',
  chunkCases,
  async ({ stream, runtime }) => {
    await loadAttentionKernels(runtime);
    const sequences = [{ context: 47, tokens: 1 }];
    const batch = makePagedBatch({ ...t32, dtype: 'f32', sequences });
    const nanKeys = batch.indexKeys.slice();
    const page = batch.pageTable[1] ?? 0;
    nanKeys.fill(Number.NaN, page * 8 * 32, (page + 1) * 8 * 32);
    const pageTable = batch.pageTable.slice();
    pageTable[2] = -1;
    const changed = { ...batch, indexKeys: nanKeys, pageTable };
    for (const scoreType of ['max', 'lse'] as const) {
      const options = { stream, topkBlocks: 4, scoreType };
      const scores = await readNumbers(stream, blockScores(uploadBatch(stream, changed), options));
      const expected = referenceBlockScores(changed, scoreType).slice(0, 6);
      expect([scores[1], scores[2]]).toEqual([Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]);
      expectClose(scores.slice(0, 6), expected, scoreTolerance);
    }
    const sequenceIds = upload(stream, Int32Array.of(-5), [1], 'i32');
    const tensors = { ...uploadBatch(stream, batch), sequenceIds };
    const unknown = await readNumbers(stream, blockScores(tensors, { stream, topkBlocks: 4 }));
    expect(new Set(unknown.slice(0, 6))).toEqual(new Set([Number.NEGATIVE_INFINITY]));
  },
);
