import { type Stream, Workspace } from '@altstream/cuda-runtime';
import { describeEachBackend, downloadRaw, poison, upload } from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { checkAttention } from '../src/arguments/attention-input.js';
import { checksOf } from '../src/arguments/checks.js';
import { type AttendCall, attend, attendShape } from '../src/attend.js';
import { loadAttentionKernels } from '../src/index.js';
import { planPagedAttention } from '../src/paged-attention.plan.js';
import { planSparseAttention } from '../src/sparse-attention.plan.js';
import { type DeviceBatch, uploadBatch } from './makers/device-batch.js';
import { freshSeed } from './makers/fresh-seed.js';
import { once } from './makers/once.js';
import { makePagedBatch } from './makers/paged-batch.js';

const cases = ([64, 128] as const).flatMap((headDim) =>
  [false, true].map((isSparse) => ({
    ...{ name: `${isSparse ? 'sparse' : 'dense'}, head ${headDim}`, headDim, isSparse },
    ...{ heads: 40, kvHeads: 2, indexHeads: 2, indexDim: 8, pageTokens: headDim === 64 ? 24 : 96 },
    ...{ dtype: 'bf16' as const, padding: 1, seed: freshSeed },
    sequences: [
      { context: 2500, tokens: 3 },
      { context: 129, tokens: 2 },
      { context: 2048, tokens: 1 },
    ],
  })),
);

const batchOf = once((testCase: (typeof cases)[number]) => makePagedBatch(testCase));

/** A call; sparse attention with every block listed, so that both kinds mean the same. */
function callOf(stream: Stream, tensors: DeviceBatch, isSparse: boolean): AttendCall {
  const shape = checkAttention(checksOf('attend', stream), tensors, { stream });
  const { tokens, heads, kvHeads, headDim, maxPages, pageTokens } = shape;
  const list = Int32Array.from({ length: kvHeads * tokens * maxPages }, (_, i) => i % maxPages);
  const blocks = upload(stream, list, [kvHeads, tokens, maxPages], 'i32');
  const out = stream.tensor([tokens, heads * headDim], 'bf16');
  poison(stream, out);
  const mostKeys = maxPages * pageTokens;
  const more: AttendCall['more'] = isSparse ? { blocks, topk_blocks: maxPages } : {};
  return { input: tensors, shape, out, mostKeys, isCausal: !isSparse, more };
}

// The CPU does not split rows: there all cuts are one.
describeEachBackend(
  'attention has the same bits however its rows are cut',
  cases,
  async ({ stream, device, runtime }, testCase) => {
    await loadAttentionKernels(runtime);
    const tensors = uploadBatch(stream, batchOf(testCase));
    const { limits } = device;
    const cuts = [
      { ...limits, processors: 1000 }, // pieces of 128 keys
      { ...limits, processors: 1000, maxGrid: [2 ** 31 - 1, 65_535, 3] }, // of 2048
      { ...limits, processors: 1 }, // whole rows
    ];
    using allocator = new Workspace(device);
    const seen = new Set<string>();
    const [plan, kernels] = [
      testCase.isSparse ? planSparseAttention : planPagedAttention,
      new Set(),
    ];
    for (const cut of cuts) {
      stream.fill(allocator.tensor([2 ** 22], 'u8'), 0xff); // NaN where nothing is written
      allocator.reset();
      const call = callOf(stream, tensors, testCase.isSparse);
      const { kernel, pieceKeys } = plan(attendShape(call), cut);
      kernels.add(`${kernel} ${pieceKeys}`);
      attend(call, plan(attendShape(call), cut), { stream, allocator });
      seen.add(Buffer.from(await downloadRaw(stream, call.out)).toString('hex'));
      allocator.reset();
    }
    expect(kernels.size).toBe(limits.sm === '' ? 1 : 3);
    expect(seen.size).toBe(1);
  },
);
