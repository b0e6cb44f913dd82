import { Workspace } from '@altstream/cuda-runtime';
import { describeEachBackend, upload } from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { loadAttentionKernels, selectBlocks } from '../src/index.js';
import { type SelectBlocksCase, selectBlocksCases } from './cases/select-blocks.js';
import { sliceBatch, uploadBatch } from './makers/device-batch.js';
import { once } from './makers/once.js';
import { makePagedBatch } from './makers/paged-batch.js';
import { readNumbers } from './makers/read-numbers.js';
import { t32 } from './makers/shapes.js';
import { referenceSelectBlocks } from './reference/select-blocks.js';

const batchOf = once(makePagedBatch);
const expectedOf = once((testCase: SelectBlocksCase) =>
  referenceSelectBlocks(batchOf(testCase), testCase),
);

describeEachBackend('selectBlocks', selectBlocksCases, async ({ stream, runtime }, testCase) => {
  await loadAttentionKernels(runtime);
  const batch = batchOf(testCase);
  const blocks = selectBlocks(uploadBatch(stream, batch), { ...testCase, stream });
  expect(blocks.shape).toEqual([testCase.indexHeads, batch.tokens, testCase.topkBlocks]);
  const expected = expectedOf(testCase);
  expect(Array.from(await readNumbers(stream, blocks))).toEqual(Array.from(expected));
});

const one = [{ name: 'T32' }];
const t32Batch = makePagedBatch({
  ...{ ...t32, dtype: 'f32', seed: 4 },
  sequences: [{ context: 90, tokens: 90 }],
});

describeEachBackend(
  'transformers#46762: the selections of the index heads differ, none is a maximum over heads',
  one,
  async ({ stream, runtime }) => {
    await loadAttentionKernels(runtime);
    const tensors = uploadBatch(stream, t32Batch);
    const blocks = await readNumbers(stream, selectBlocks(tensors, { stream, topkBlocks: 4 }));
    const rows = Array.from({ length: 180 }, (_, i) => blocks.slice(i * 4, i * 4 + 4).join());
    const differing = rows.slice(0, 90).filter((row, token) => row !== rows[90 + token]);
    expect(differing.length).toBeGreaterThan(29);
    const alone = { ...t32Batch, spec: { ...t32Batch.spec, indexHeads: 1 } };
    for (const head of [0, 1]) {
      const indexQ = t32Batch.indexQ.filter((_, i) => Math.floor(i / 32) % 2 === head);
      const single = uploadBatch(stream, { ...alone, indexQ });
      const chosen = await readNumbers(stream, selectBlocks(single, { stream, topkBlocks: 4 }));
      expect(chosen).toEqual(blocks.slice(head * 360, head * 360 + 360));
    }
  },
);

describeEachBackend(
  'selectBlocks chooses for a token alone what it chooses in a batch',
  one,
  async ({ stream, runtime }) => {
    await loadAttentionKernels(runtime);
    const options = { stream, topkBlocks: 4 };
    const tensors = uploadBatch(stream, t32Batch);
    const whole = await readNumbers(stream, selectBlocks(tensors, options));
    for (const token of [31, 32, 40, 89]) {
      const alone = sliceBatch(tensors, token, token + 1);
      const chosen = await readNumbers(stream, selectBlocks(alone, options));
      for (const head of [0, 1]) {
        const start = (head * 90 + token) * 4;
        expect(chosen.slice(head * 4, head * 4 + 4)).toEqual(whole.slice(start, start + 4));
      }
    }
  },
);

describeEachBackend(
  'selectBlocks gives its scratch back to a workspace and writes to `out`',
  one,
  async ({ stream, device, runtime }) => {
    await loadAttentionKernels(runtime);
    const workspace = new Workspace(device);
    const tensors = uploadBatch(stream, t32Batch);
    const options = { stream, allocator: workspace, topkBlocks: 4 };
    const blocks = selectBlocks(tensors, options);
    const next = workspace.tensor([1], 'f32');
    expect(next.byteOffset - blocks.byteOffset).toBe(Math.ceil(blocks.bytes / 256) * 256);
    const out = upload(stream, new Int32Array(720), [2, 90, 4], 'i32');
    expect(selectBlocks(tensors, { ...options, out })).toBe(out);
    expect(await readNumbers(stream, out)).toEqual(await readNumbers(stream, blocks));
    const none = sliceBatch(tensors, 0, 0);
    expect(selectBlocks(none, { stream, topkBlocks: 4 }).shape).toEqual([2, 0, 4]);
    workspace.dispose();
  },
);
