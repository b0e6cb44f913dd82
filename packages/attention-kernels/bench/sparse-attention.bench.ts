import { type BenchCase, readCeiling, runBench } from '@altstream/bench';
import { type Stream, type Tensor, Workspace } from '@altstream/cuda-runtime';
import { expectClose } from '@altstream/cuda-runtime/testing';
import { checkAttention } from '../src/arguments/attention-input.js';
import { checksOf } from '../src/arguments/checks.js';
import { attend, attendShape } from '../src/attend.js';
import {
  loadAttentionKernels,
  type SparseAttentionInput,
  selectBlocks,
  sparseAttention,
} from '../src/index.js';
import { planSparseAttention } from '../src/sparse-attention.plan.js';
import { sliceHostBatch, uploadBatch } from '../test/makers/device-batch.js';
import { makePagedBatch } from '../test/makers/paged-batch.js';
import { readNumbers } from '../test/makers/read-numbers.js';
import { m3 } from '../test/makers/shapes.js';
import { attentionTolerance } from '../test/makers/tolerances.js';
import { referenceSelectBlocks } from '../test/reference/select-blocks.js';
import { referenceSparseAttention } from '../test/reference/sparse-attention.js';
import {
  type AttentionBenchCase,
  attentionBenchCases,
  batchOf,
  visibleKeys,
} from './attention-cases.js';

// What each of four devices has of MiniMax-M3.
const quarter = { ...m3, heads: 16, kvHeads: 1, indexHeads: 1 };
const quarterCases = [1, 4, 16].map(
  (count): AttentionBenchCase => ({
    ...{ name: 'M3 / 4 decode', dtype: 'bf16', ...quarter, topkBlocks: 16, count },
    ...{ context: 4096, tokens: 1 },
  }),
);

/** Other ways to the same bits: with another launch that joins the pieces, and launched early. */
function peersOf(stream: Stream, input: SparseAttentionInput, out: Tensor) {
  const shape = checkAttention(checksOf('sparseAttention', stream), input, { stream });
  const [, , topkBlocks = 0] = input.blocks.shape;
  const mostKeys = topkBlocks * shape.pageTokens;
  const more = { blocks: input.blocks, topk_blocks: topkBlocks };
  const call = { input, shape, out, mostKeys, isCausal: false, more };
  const { device } = stream;
  const planned = planSparseAttention(attendShape(call), device.limits);
  // As before there were clusters.
  const apart = planSparseAttention(attendShape(call), { ...device.limits, sm: '8.0' });
  const options = { stream, allocator: new Workspace(device) };
  const early = { ...options, programmatic: true };
  return {
    'two launches': () => attend(call, apart, options),
    early: () => attend(call, planned, early),
    'two launches, early': () => attend(call, apart, early),
  };
}

const cases = [...attentionBenchCases, ...quarterCases].map((one): BenchCase => {
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
      const input = { ...tensors, blocks };
      const isCuda = stream.device.limits.sm !== '';
      return {
        ...(isCuda && { peers: peersOf(stream, input, out) }),
        run: () => void sparseAttention(input, { stream, out }),
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
