import { type Stream, Workspace } from '@altstream/cuda-runtime';
import { describeEachBackend, downloadRaw, poison, upload } from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { checkAttention } from '../src/arguments/attention-input.js';
import { checksOf } from '../src/arguments/checks.js';
import { type AttendCall, attend } from '../src/attend.js';
import { loadAttentionKernels } from '../src/index.js';
import { type DeviceBatch, uploadBatch } from './makers/device-batch.js';
import { freshSeed } from './makers/fresh-seed.js';
import { makePagedBatch } from './makers/paged-batch.js';

const cases = ([64, 128] as const).flatMap((headDim) =>
  (['paged_attention', 'sparse_attention'] as const).map((operation) => ({
    ...{ name: `${operation}, head ${headDim}`, headDim, operation, dtype: 'bf16' as const },
    ...{ heads: 20, kvHeads: 1, indexHeads: 1, indexDim: 8, pageTokens: 96 },
    ...{ padding: 1, seed: freshSeed },
    sequences: [
      { context: 2500, tokens: 3 },
      { context: 129, tokens: 2 },
      { context: 2048, tokens: 1 },
    ],
  })),
);

/** The call with every block of the table listed, so that both operations mean the same. */
function callOf(stream: Stream, tensors: DeviceBatch, operation: AttendCall['operation']) {
  const shape = checkAttention(checksOf(operation, stream), tensors, { stream });
  const { tokens, heads, headDim, maxPages, pageTokens } = shape;
  const list = Int32Array.from({ length: tokens * maxPages }, (_, i) => i % maxPages);
  const blocks = upload(stream, list, [1, tokens, maxPages], 'i32');
  const isCausal = operation === 'paged_attention';
  const more: AttendCall['more'] = isCausal ? {} : { blocks, topk_blocks: maxPages };
  const out = stream.tensor([tokens, heads * headDim], 'bf16');
  poison(stream, out);
  const mostKeys = maxPages * pageTokens;
  return { operation, input: tensors, shape, out, mostKeys, isCausal, more };
}

describeEachBackend(
  'attention has the same bits however its rows are cut',
  cases,
  async ({ stream, device, runtime }, testCase) => {
    await loadAttentionKernels(runtime);
    const tensors = uploadBatch(stream, makePagedBatch(testCase));
    const { limits } = device;
    const cuts = {
      pieces: { ...limits, processors: 1000 },
      runs: { ...limits, processors: 1000, maxGrid: [2 ** 31 - 1, 65_535, 3] },
      whole: { ...limits, processors: 1 },
    };
    using allocator = new Workspace(device);
    const seen = new Set<string>();
    for (const cut of Object.values(cuts)) {
      allocator.reset();
      stream.fill(allocator.tensor([2 ** 22], 'u8'), 0xff); // NaN where nothing is written
      allocator.reset();
      const call = callOf(stream, tensors, testCase.operation);
      attend(call, { stream, allocator }, cut);
      seen.add(Buffer.from(await downloadRaw(stream, call.out)).toString('hex'));
    }
    expect(seen.size).toBe(1);
  },
);
