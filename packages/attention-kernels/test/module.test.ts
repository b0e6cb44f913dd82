import { readdirSync, readFileSync } from 'node:fs';
import { open } from '@altstream/cuda-runtime';
import { expect, test } from 'vitest';
import { loadAttentionKernels, NotLoadedError, pagedAttention } from '../src/index.js';
import { attentionKernel } from '../src/module.js';
import { uploadBatch } from './makers/device-batch.js';
import { makePagedBatch } from './makers/paged-batch.js';
import { t32 } from './makers/shapes.js';

const headers = new URL('../native/include/attention_kernels/', import.meta.url);
const declared = readdirSync(headers).flatMap((file) => {
  const text = readFileSync(new URL(file, headers), 'utf8');
  return [...text.matchAll(/^\/\* kernel (\w+)/gm)].map((match) => match[1] ?? '');
});

test('loads once per runtime, and every kernel of the headers is there', async () => {
  await using runtime = await open({ backend: 'cpu', isolated: true });
  const load = loadAttentionKernels(runtime);
  expect(loadAttentionKernels(runtime)).toBe(load);
  await load;
  using stream = runtime.device().createStream();
  expect(declared).toHaveLength(21);
  for (const name of declared) expect(attentionKernel(stream, name).name).toBe(name);
});

test('an operation before the load says what to await', async () => {
  await using runtime = await open({ backend: 'cpu', isolated: true });
  using stream = runtime.device().createStream();
  const sequences = [{ context: 3, tokens: 1 }];
  const tensors = uploadBatch(stream, makePagedBatch({ ...t32, dtype: 'f32', sequences }));
  expect(() => pagedAttention(tensors, { stream })).toThrow(NotLoadedError);
});
