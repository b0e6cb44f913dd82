import type { Stream, Tensor } from '@altstream/cuda-runtime';
import { describeEachBackend, download, poison, upload } from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { adjustLogits, loadDenseKernels, restoreLogits } from '../src/index.js';
import { adjustLogitsCases } from './cases/adjust-logits.js';
import { makeAdjusted, uploadAdjusted } from './makers/adjust-logits.js';
import { freshSeed, seedNote } from './makers/fresh-seed.js';
import { differsFromEarlierLevel } from './makers/same-bits.js';
import { logprobAbsolute } from './makers/tolerance.js';
import { referenceAdjusted } from './reference/adjust-logits.js';
import { referenceLogprob } from './reference/sampling.js';

describeEachBackend('adjustLogits', adjustLogitsCases, async (backend, testCase) => {
  const { stream, runtime, device } = backend;
  await loadDenseKernels(runtime);
  const { rows, vocab } = testCase;
  const host = makeAdjusted(testCase, freshSeed);
  const input = uploadAdjusted(stream, host, testCase);
  poison(stream, input.raw);
  adjustLogits(input, { stream });
  const adjusted = await downloadRows(stream, input.logits);
  for (const [row, { logits, changes }] of host.entries()) {
    const actual = adjusted.subarray(row * vocab, (row + 1) * vocab);
    expect(firstDifference(actual, referenceAdjusted(logits, changes)), seedNote).toBe('');
  }
  const drawn = host.map((_, row) => (row % 5 === 4 ? vocab : (row * 7) % vocab));
  const ids = upload(stream, drawn, [rows], 'i32');
  const before = host.map((_, row) => (row % 6 === 5 ? Number.NaN : 9));
  const logprobs = upload(stream, before, [rows], 'f32');
  restoreLogits({ ...input, ids, logprobs }, { stream });
  const restored = await downloadRows(stream, input.logits);
  const counts = (await download(stream, input.counts)) as Int32Array;
  const given = (await download(stream, logprobs)) as Float32Array;
  for (const [row, { logits, changes }] of host.entries()) {
    const actual = restored.subarray(row * vocab, (row + 1) * vocab);
    expect(firstDifference(actual, logits), seedNote).toBe('');
    const id = drawn[row] ?? 0;
    const isChanged = changes.flags !== 0 && changes.position >= 0;
    const isCounted = isChanged && (changes.flags & 1) === 1 && id < vocab;
    const counted = Array.from(changes.counts, (n, i) => (isCounted && i === id ? n + 2 : n));
    expect(firstDifference(counts.subarray(row * vocab, (row + 1) * vocab), counted)).toBe('');
    const old = before[row] ?? 0;
    const isGiven = isChanged && id < vocab && !Number.isNaN(old);
    const expected = isGiven ? referenceLogprob(logits, id) : old;
    const got = given[row] ?? Number.NaN;
    const bound = logprobAbsolute + 2 ** -24 * Math.abs(expected);
    if (!Object.is(got, Math.fround(expected))) {
      expect(Math.abs(got - expected), `${got} for ${expected}`).toBeLessThanOrEqual(bound);
    }
  }
  expect(differsFromEarlierLevel(testCase.name, device, adjusted, given)).toBe('');
});

/** Rows that lie apart, dense. */
async function downloadRows(stream: Stream, tensor: Tensor): Promise<Float32Array> {
  const [rows = 0, vocab = 0] = tensor.shape;
  const dense = new Float32Array(rows * vocab);
  for (let row = 0; row < rows; row += 1) {
    const values = (await download(stream, tensor.slice(0, row, row + 1))) as Float32Array;
    dense.set(values, row * vocab);
  }
  return dense;
}

/** Where two rows differ in a bit; NaNs are alike. */
function firstDifference(actual: ArrayLike<number>, expected: ArrayLike<number>): string {
  for (let id = 0; id < expected.length; id += 1) {
    if (!Object.is(actual[id], expected[id])) {
      return `id ${id}: ${actual[id]}, expected ${expected[id]}`;
    }
  }
  return '';
}

const replay = [{ name: 'in a graph' }];
describeEachBackend('adjustLogits', replay, async ({ stream, runtime, device }) => {
  await loadDenseKernels(runtime);
  const testCase = { name: 'graph', rows: 1, vocab: 8, entries: 1, flags: [3], seen: 0 };
  const input = uploadAdjusted(stream, makeAdjusted(testCase, 1), testCase);
  stream.write(input.repetition, Float32Array.of(1));
  stream.write(input.frequency, Float32Array.of(2));
  stream.write(input.presence, Float32Array.of(1));
  stream.write(input.positions, Int32Array.of(5));
  const fresh = upload(stream, new Float32Array(8).fill(4), [1, 8], 'f32');
  const seen = stream.tensor([1, 8], 'f32');
  const ids = upload(stream, [3], [1], 'i32');
  const graph = device.capture(
    () => {
      stream.copy(input.logits, fresh);
      adjustLogits(input, { stream });
      stream.copy(seen, input.logits);
      restoreLogits({ ...input, ids }, { stream });
    },
    { stream },
  );
  const exec = await graph.instantiate();
  graph.dispose();
  for (const expected of [4, 1, -1]) {
    exec.launch(stream);
    const values = (await download(stream, seen)) as Float32Array;
    expect([values[3], values[4]]).toEqual([expected, 4]);
  }
  exec.dispose();
});
