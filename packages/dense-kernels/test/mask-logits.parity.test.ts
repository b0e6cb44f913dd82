import {
  describeEachBackend,
  download,
  poison,
  seededRandom,
  upload,
} from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { loadDenseKernels, maskLogits } from '../src/index.js';
import { maskLogitsCases } from './cases/mask-logits.js';
import { freshSeed, seedNote } from './makers/fresh-seed.js';
import { referenceMaskLogits } from './reference/mask-logits.js';

describeEachBackend('maskLogits', maskLogitsCases, async ({ stream, runtime }, testCase) => {
  await loadDenseKernels(runtime);
  const { rows, vocab, sources, allowed } = testCase;
  const random = seededRandom(freshSeed);
  const apart = vocab + 3; // rows lie apart, and what is between them is never read
  const logits = Array.from({ length: rows }, () => random.floats(vocab, 10));
  const padded = logits.flatMap((row) => [...row, Number.NaN, Number.NaN, Number.NaN]);
  const words = Math.ceil(vocab / 32);
  const masks = sources.map(() => maskOf(vocab, words, () => random.uniform(0, 1) < allowed));
  const whole = upload(stream, Float32Array.from(padded), [rows, apart], 'f32');
  const out = stream.tensor([sources.length, vocab], 'f32');
  poison(stream, out);
  const bits = Int32Array.from(masks.flatMap((mask) => [...mask]));
  const y = maskLogits(
    {
      logits: whole.slice(1, 0, vocab),
      sources: upload(stream, Int32Array.from(sources), [sources.length], 'i32'),
      mask: upload(stream, bits, [sources.length, words], 'i32'),
    },
    { stream, out },
  );
  expect(y).toBe(out);
  const expected = Float32Array.from(referenceMaskLogits(logits, sources, masks));
  const actual = (await download(stream, y)) as Float32Array;
  // values are copied: the bits must agree
  const bytes = (values: Float32Array) => Buffer.from(values.buffer, values.byteOffset);
  expect(actual.length).toBe(expected.length);
  expect(bytes(actual).equals(bytes(expected)), seedNote).toBe(true);
});

/** Random bits, also those behind the vocabulary, which mean nothing. */
function maskOf(vocab: number, words: number, isAllowed: () => boolean): Int32Array {
  const mask = new Int32Array(words).fill(-1);
  for (let id = 0; id < vocab; id += 1) {
    if (!isAllowed()) mask[id >> 5] = (mask[id >> 5] ?? 0) & ~(1 << (id & 31));
  }
  return mask;
}
