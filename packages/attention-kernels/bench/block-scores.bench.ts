import { type BenchCase, readCeiling, runBench } from '@altstream/bench';
import { expectClose } from '@altstream/cuda-runtime/testing';
import { blockScores, loadAttentionKernels } from '../src/index.js';
import { sliceHostBatch, uploadBatch } from '../test/makers/device-batch.js';
import { makePagedBatch } from '../test/makers/paged-batch.js';
import { readNumbers } from '../test/makers/read-numbers.js';
import { scoreTolerance } from '../test/makers/tolerances.js';
import { referenceBlockScores } from '../test/reference/block-scores.js';
import { attentionBenchCases, batchOf, visibleKeys } from './attention-cases.js';

const scored = attentionBenchCases.filter(({ context, topkBlocks, pageTokens }) => {
  return context > topkBlocks * pageTokens;
});

const cases = scored.map((one): BenchCase => {
  const { name, context, tokens, count, indexHeads, indexDim, topkBlocks, pageTokens } = one;
  const batch = makePagedBatch(batchOf(one));
  const beyond = batch.positions.filter((p) => Math.floor(p / pageTokens) + 1 > topkBlocks);
  return {
    case: { shape: name, sequences: count, context, tokens },
    bytes: 2 * (count * context * indexDim + batch.indexQ.length),
    flops: 2 * indexHeads * indexDim * visibleKeys(beyond),
    prepare: async (stream) => {
      const tensors = uploadBatch(stream, batch);
      const out = stream.tensor([batch.tokens, indexHeads, batch.maxPages], 'f32');
      return {
        run: () => void blockScores(tensors, { stream, topkBlocks, out }),
        check: async () => {
          const last = sliceHostBatch(batch, batch.tokens - 1, batch.tokens);
          const blocks = Math.ceil(context / pageTokens);
          const isCandidate = (_: number, i: number) => i % batch.maxPages < blocks;
          const expected = referenceBlockScores(last, 'max');
          const actual = (await readNumbers(stream, out)).slice(-expected.length);
          expectClose(actual.filter(isCandidate), expected.filter(isCandidate), scoreTolerance);
        },
      };
    },
  };
});

const setting = {
  bench: 'block-scores',
  from: import.meta.url,
  load: loadAttentionKernels,
  ceiling: readCeiling,
};
await runBench(setting, cases);
