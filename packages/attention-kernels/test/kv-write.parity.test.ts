import type { Stream, Tensor } from '@altstream/cuda-runtime';
import {
  describeEachBackend,
  roundBf16,
  seededRandom,
  upload,
} from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { headsView, kvWrite, loadAttentionKernels } from '../src/index.js';
import { type KvWriteCase, kvWriteCases } from './cases/kv-write.js';
import { freshSeed } from './makers/fresh-seed.js';
import { once } from './makers/once.js';
import { makePagedBatch, type PagedBatch, type PagedBatchSpec } from './makers/paged-batch.js';
import { readNumbers } from './makers/read-numbers.js';
import { referenceKvWrite } from './reference/kv-write.js';

/** k, v and index key of each token, on the host and on the device. */
function makeRows(stream: Stream, { tokens }: PagedBatch, spec: KvWriteCase) {
  const { dtype, kvHeads, headDim, indexDim } = spec;
  const parts = [
    { heads: kvHeads, headDim },
    { heads: kvHeads, headDim },
    { heads: 1, headDim: indexDim },
  ];
  const width = parts.reduce((sum, part) => sum + part.heads * part.headDim, 0);
  const raw = seededRandom(3).floats(tokens * width);
  const data = dtype === 'bf16' ? raw.map(roundBf16) : raw;
  const projection = upload(stream, data, [tokens, width], dtype);
  let start = 0;
  return parts.map((part) => {
    const columns = part.heads * part.headDim;
    const first = start;
    start += columns;
    const rows = data.filter((_, i) => i % width >= first && i % width < first + columns);
    const tensor: Tensor = spec.fused
      ? headsView(projection, { start: first, ...part })
      : upload(stream, rows, [tokens, part.heads, part.headDim], dtype);
    return { rows, columns, tensor };
  });
}

const batchOf = once((spec: PagedBatchSpec) => makePagedBatch({ ...spec, seed: freshSeed }));
const sameNumbers = (a: ArrayLike<number>, b: Float32Array) =>
  a.length === b.length && b.every((value, i) => Object.is(value, a[i]));

describeEachBackend('kvWrite', kvWriteCases, async ({ stream, runtime }, testCase) => {
  await loadAttentionKernels(runtime);
  const batch = batchOf(testCase);
  const { pages, tokens } = batch;
  const { pageTokens, kvHeads, headDim, indexDim, dtype, indexed } = testCase;
  const rows = makeRows(stream, batch, testCase);
  const [k, v, indexK] = rows.map(({ tensor }) => tensor);
  const shapes = [
    [pages, pageTokens, kvHeads, headDim],
    [pages, pageTokens, kvHeads, headDim],
    [pages, pageTokens, indexDim],
  ];
  const before = [batch.kCache, batch.vCache, batch.indexKeys];
  const caches = shapes.map((shape, i) => upload(stream, before[i] ?? [], shape, dtype));
  const [kCache, vCache, indexKeys] = caches;
  if (!k || !v || !kCache || !vCache) throw new Error('a tensor is missing');
  const slots = upload(stream, batch.slots, [tokens], 'i32');
  const index = indexed ? { indexK, indexKeys } : {};
  kvWrite({ k, v, slots, kCache, vCache, ...index }, { stream });
  for (const [i, cache] of caches.entries()) {
    const { rows: written = new Float32Array(), columns = 1 } = rows[i] ?? {};
    const old = before[i] ?? new Float32Array();
    const slotsOf = i < 2 || indexed ? batch.slots : new Int32Array();
    const expected = referenceKvWrite(old, written, slotsOf, columns);
    expect(sameNumbers(await readNumbers(stream, cache), expected)).toBe(true);
  }
});

const one = [{ name: 'a cache of two pages' }];

describeEachBackend(
  'kvWrite skips slots outside the cache, copies NaN and takes no tokens',
  one,
  async ({ stream, runtime }) => {
    await loadAttentionKernels(runtime);
    const rows = upload(stream, [1, Number.NaN, 3, 4, 5], [5, 1, 1], 'f32');
    const caches = ['kCache', 'vCache'].map(() => {
      return upload(stream, new Float32Array(4), [2, 2, 1, 1], 'f32');
    });
    const [kCache, vCache] = caches;
    if (!kCache || !vCache) throw new Error('a cache is missing');
    const slots = upload(stream, [4, 2, -7, 2 ** 31 - 1, 0], [5], 'i32');
    kvWrite({ k: rows, v: rows, slots, kCache, vCache }, { stream });
    for (const cache of caches) {
      expect(Array.from(await readNumbers(stream, cache))).toEqual([5, 0, Number.NaN, 0]);
    }
    const none = rows.slice(0, 0, 0);
    kvWrite({ k: none, v: none, slots: slots.slice(0, 0, 0), kCache, vCache }, { stream });
    expect(Array.from(await readNumbers(stream, kCache))).toEqual([5, 0, Number.NaN, 0]);
  },
);
