import {
  describeEachBackend,
  downloadRaw,
  expectClose,
  upload,
} from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import {
  blockScores,
  blockTopk,
  loadAttentionKernels,
  pagedAttention,
  sparseAttention,
} from '../src/index.js';
import { uploadBatch } from './makers/device-batch.js';
import { once } from './makers/once.js';
import { makePagedBatch } from './makers/paged-batch.js';
import { type RandomSpec, randomSpecs } from './makers/random-spec.js';
import { readNumbers } from './makers/read-numbers.js';
import { attentionTolerance, scoreTolerance } from './makers/tolerances.js';
import { referenceBlockScores } from './reference/block-scores.js';
import { referenceBlockTopk } from './reference/block-topk.js';
import { referenceAttention } from './reference/paged-attention.js';
import { referenceSparseAttention } from './reference/sparse-attention.js';

const batchOf = once(makePagedBatch);
const denseOf = once((spec: RandomSpec) => referenceAttention(batchOf(spec)));
const scoresOf = once((spec: RandomSpec) => referenceBlockScores(batchOf(spec), 'max'));

describeEachBackend(
  'random sizes: scores, choice, dense and sparse attention match their references',
  randomSpecs(6),
  async ({ stream, runtime }, spec) => {
    await loadAttentionKernels(runtime);
    const { topkBlocks, pageTokens, indexHeads, dtype, kvHeads } = spec;
    const batch = batchOf(spec);
    const { tokens, maxPages, positions } = batch;
    const tensors = uploadBatch(stream, batch);

    const dense = pagedAttention(tensors, { stream });
    expectClose(await readNumbers(stream, dense), denseOf(spec), attentionTolerance[dtype]);

    const zeros = new Float32Array(tokens * indexHeads * maxPages);
    const out = upload(stream, zeros, [tokens, indexHeads, maxPages], 'f32');
    blockScores(tensors, { stream, topkBlocks, out });
    const scores = await readNumbers(stream, out);
    // Zero is what the kernel left alone: tokens that need no score, and blocks behind the own one.
    const written = Array.from(scores.keys()).filter((i) => scores[i] !== 0);
    const pick = (from: ArrayLike<number>) => written.map((i) => from[i] ?? Number.NaN);
    expectClose(pick(scores), pick(scoresOf(spec)), scoreTolerance);

    const blocks = blockTopk({ scores: out, positions: tensors.positions }, { stream, ...spec });
    const chosen = await readNumbers(stream, blocks);
    const choice = { scores, positions, indexHeads, maxPages, pageTokens, topkBlocks };
    expect(chosen).toEqual(referenceBlockTopk(choice));

    const sparse = sparseAttention({ ...tensors, blocks }, { stream });
    const expected = referenceSparseAttention(batch, Int32Array.from(chosen), topkBlocks);
    expectClose(await readNumbers(stream, sparse), expected, attentionTolerance[dtype]);

    const everything = Int32Array.from(
      { length: kvHeads * tokens * maxPages },
      (_, i) => i % maxPages,
    );
    const all = upload(stream, everything, [kvHeads, tokens, maxPages], 'i32');
    const same = sparseAttention({ ...tensors, blocks: all }, { stream });
    const bits = Buffer.from(await downloadRaw(stream, same));
    expect(bits.equals(await downloadRaw(stream, dense))).toBe(true);
  },
);
