import {
  describeEachBackend,
  download,
  roundBf16,
  seededRandom,
  upload,
} from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { finalize, loadMoeKernels } from '../src/index.js';
import { finalizeCases } from './cases/finalize.js';
import { poisoned } from './makers/poisoned-allocator.js';
import { referenceFinalize } from './reference/finalize.js';

describeEachBackend('finalize', finalizeCases, async ({ stream, runtime }, testCase) => {
  await loadMoeKernels(runtime);
  const { tokens, k, hidden, dtype, skip, scale = 1, hasAddend = false } = testCase;
  const random = seededRandom(tokens * 17 + hidden);
  const rows = tokens * k;
  const values = random.floats(rows * hidden, 3);
  const expertOut = dtype === 'bf16' ? values.map(roundBf16) : values;
  const weights = Float32Array.from({ length: rows }, () => random.uniform(0, 1));
  const slots = Array.from({ length: rows }, (_, i) => (skip(i) ? -1 : (i * 7 + 3) % rows));
  // Rows that no slot names are NaN: they must not leak.
  const used = new Set(slots);
  for (let row = 0; row < rows; row += 1) {
    if (!used.has(row)) expertOut.fill(Number.NaN, row * hidden, (row + 1) * hidden);
  }

  const terms = random.floats(tokens * hidden, 3);
  const addend = dtype === 'bf16' ? terms.map(roundBf16) : terms;

  const out = finalize(
    {
      expertOut: upload(stream, expertOut, [rows, hidden], dtype),
      slots: upload(stream, slots, [tokens, k], 'i32'),
      weights: upload(stream, weights, [tokens, k], 'f32'),
      ...(hasAddend && { addend: upload(stream, addend, [tokens, hidden], dtype) }),
    },
    { stream, allocator: poisoned(stream), scale, isSettled: hasAddend },
  );

  const round = dtype === 'bf16' ? roundBf16 : Math.fround;
  const sums = referenceFinalize({ expertOut, slots, weights, k, hidden, scale }, round);
  const expected = sums.map((sum, i) =>
    hasAddend ? round(Math.fround(sum + (addend[i] ?? 0))) : sum,
  );
  expect([...(await download(stream, out))]).toEqual(expected);
});

describeEachBackend(
  'finalize skips slots that name no row',
  [{ name: 'f32' }],
  async ({ stream, runtime }) => {
    await loadMoeKernels(runtime);
    const slots = [0, 2, 2 ** 31 - 1, -(2 ** 31), 1, 4];
    const out = finalize(
      {
        expertOut: upload(stream, [1, 2, 3, 4, 5, 6], [6, 1], 'f32'),
        slots: upload(stream, slots, [3, 2], 'i32'),
        weights: upload(stream, new Array<number>(6).fill(1), [3, 2], 'f32'),
      },
      { stream },
    );
    expect([...(await download(stream, out))]).toEqual([4, 0, 7]);
  },
);
