import { type BenchCase, readCeiling, runBench } from '@altstream/bench';
import { expectClose } from '@altstream/cuda-runtime/testing';
import { loadAttentionKernels, selectBlocks, sparseAttention } from '../src/index.js';
import { sliceHostBatch, uploadBatch } from '../test/makers/device-batch.js';
import { makePagedBatch } from '../test/makers/paged-batch.js';
import { readNumbers } from '../test/makers/read-numbers.js';
import { attentionTolerance } from '../test/makers/tolerances.js';
import { referenceSelectBlocks } from '../test/reference/select-blocks.js';
import { referenceSparseAttention } from '../test/reference/sparse-attention.js';
import { attentionBenchCases, batchOf, visibleKeys } from './attention-cases.js';

const cases = attentionBenchCases.map((one): BenchCase => {
  const { name, context, tokens, count, heads, kvHeads, headDim, topkBlocks, pageTokens } = one;
  const batch = makePagedBatch(batchOf(one));
  const limit = topkBlocks * pageTokens;
  const keys = Math.min(context, limit * tokens);
  return {
    case: { shape: name, sequences: count, context, tokens },
    bytes: 2 * 2 * (count * keys * kvHeads * headDim + batch.q.length),
    flops: 4 * heads * headDim * visibleKeys(batch.positions, limit),
    prepare: async (stream) => {
      const tensors = uploadBatch(stream, batch);
      const blocks = selectBlocks(tensors, { stream, topkBlocks });
      const out = stream.tensor([batch.tokens, heads * headDim], 'bf16');
      return {
        run: () => void sparseAttention({ ...tensors, blocks }, { stream, out }),
        check: async () => {
          // The last token alone: the reference is slow, and the tests check every token.
          const last = sliceHostBatch(batch, batch.tokens - 1, batch.tokens);
          const chosen = referenceSelectBlocks(last, { topkBlocks });
          const expected = referenceSparseAttention(last, chosen, topkBlocks);
          const actual = (await readNumbers(stream, out)).slice(-expected.length);
          expectClose(actual, expected, attentionTolerance.bf16);
        },
      };
    },
  };
});

const setting = {
  bench: 'sparse-attention',
  from: import.meta.url,
  load: loadAttentionKernels,
  ceiling: readCeiling,
};
await runBench(setting, cases);
