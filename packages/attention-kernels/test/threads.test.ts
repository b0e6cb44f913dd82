import { open } from '@altstream/cuda-runtime';
import { downloadRaw } from '@altstream/cuda-runtime/testing';
import { expect, test } from 'vitest';
import {
  loadAttentionKernels,
  pagedAttention,
  selectBlocks,
  sparseAttention,
} from '../src/index.js';
import { uploadBatch } from './makers/device-batch.js';
import { makePagedBatch } from './makers/paged-batch.js';
import { t32 } from './makers/shapes.js';

const batch = makePagedBatch({
  ...{ ...t32, dtype: 'bf16', heads: 24, interleaved: true, padding: 2 },
  sequences: [
    { context: 90, tokens: 23 },
    { context: 41, tokens: 41 },
  ],
});

async function run(threads: number): Promise<readonly Buffer[]> {
  const cpu = { threads, raceCheck: true } as const;
  await using runtime = await open({ backend: 'cpu', isolated: true, cpu });
  await loadAttentionKernels(runtime);
  using stream = runtime.device().createStream();
  const tensors = uploadBatch(stream, batch);
  const blocks = selectBlocks(tensors, { stream, topkBlocks: 4 });
  const dense = pagedAttention(tensors, { stream });
  const sparse = sparseAttention({ ...tensors, blocks }, { stream });
  const bits: Buffer[] = [];
  for (const tensor of [blocks, dense, sparse]) {
    bits.push(Buffer.from(await downloadRaw(stream, tensor)));
  }
  runtime.checkRaces();
  return bits;
}

test('any number of threads gives the same bits, and no race', async () => {
  const [one, three, many] = [await run(1), await run(3), await run(13)];
  expect(three.map((bits, i) => one[i]?.equals(bits))).toEqual([true, true, true]);
  expect(many.map((bits, i) => one[i]?.equals(bits))).toEqual([true, true, true]);
});
