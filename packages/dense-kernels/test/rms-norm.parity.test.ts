import { type Stream, Tensor } from '@altstream/cuda-runtime';
import {
  describeEachBackend,
  download,
  expectClose,
  poison,
  seededRandom,
  upload,
} from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { loadDenseKernels, rmsNorm } from '../src/index.js';
import { type RmsNormCase, rmsNormCases } from './cases/rms-norm.js';
import { freshSeed, seedNote } from './makers/fresh-seed.js';
import { roundTo } from './makers/round-to.js';
import { differsFromEarlierLevel } from './makers/same-bits.js';
import { rmsNormInside, roundingOf } from './makers/tolerance.js';
import { referenceRmsNorm } from './reference/rms-norm.js';

const epsilon = 1e-6;

describeEachBackend('rmsNorm', rmsNormCases, async ({ stream, runtime, device }, testCase) => {
  await loadDenseKernels(runtime);
  const { dtype, gemma } = testCase;
  const { x, wide, isInside, weight, residual, values } = makeInput(testCase, stream);
  const [out, residualOut] = [stream.tensor(x.shape, dtype), stream.tensor(x.shape, dtype)];
  for (const tensor of [out, residualOut]) poison(stream, tensor);
  const options = { stream, epsilon, gemma, out };
  if (residual) rmsNorm({ x, weight, residual }, { ...options, residualOut });
  else rmsNorm({ x, weight }, options);

  const expected = referenceRmsNorm({ ...values, epsilon, gemma });
  const relative = rmsNormInside + roundingOf(dtype);
  const absolute = 2 ** -133; // the smallest subnormal of bf16: fewer bits below it
  const y = (await download(stream, out)) as Float32Array;
  expectClose(y, Float32Array.from(expected.y), { relative, absolute, message: seedNote });
  const sum = residual ? ((await download(stream, residualOut)) as Float32Array) : undefined;
  if (sum) expectClose(sum, roundTo(Float32Array.from(expected.sum), dtype), { message: seedNote });
  const results = sum ? [y, sum] : [y];
  expect(differsFromEarlierLevel(testCase.name, device, ...results), seedNote).toBe('');

  // in place: x holds the norm, residual the sum, what lies between rows of x is untouched
  const before = (await download(stream, wide)) as Float32Array;
  if (residual) rmsNorm({ x, weight, residual }, { ...options, out: x, residualOut: residual });
  else rmsNorm({ x, weight }, { ...options, out: x });
  const after = (await download(stream, wide)) as Float32Array;
  const message = `in place, ${seedNote}`;
  expectClose(
    after.filter((_, i) => isInside(i)),
    y,
    { message },
  );
  const outside = before.filter((_, i) => !isInside(i));
  expectClose(
    after.filter((_, i) => !isInside(i)),
    outside,
    { message },
  );
  if (residual && sum) {
    expectClose((await download(stream, residual)) as Float32Array, sum, { message });
  }
});

/** `x` is a view of `wide` when the case has a gap; `values` is what the reference sees. */
function makeInput(testCase: RmsNormCase, stream: Stream) {
  const { tokens, heads, hidden, dtype, weightDType, gap = 0, scale = 3 } = testCase;
  const random = seededRandom(freshSeed);
  const row = (heads ?? 1) * hidden;
  const isInside = (i: number) => i % (row + gap) < row;
  const wideValues = roundTo(random.floats(tokens * (row + gap), scale), dtype);
  const weight = roundTo(random.floats(hidden, 0.5), weightDType);
  const residual = testCase.residual
    ? roundTo(random.floats(tokens * row, 7 * scale), dtype)
    : undefined;
  const wide = upload(stream, wideValues, [tokens, row + gap], dtype);
  const shape = heads === undefined ? [tokens, hidden] : [tokens, heads, hidden];
  const strides = heads === undefined ? [row + gap, 1] : [row + gap, hidden, 1];
  const { byteOffset } = wide;
  return {
    x: Tensor.of(wide.buffer, shape, dtype, { strides, byteOffset }),
    wide,
    isInside,
    weight: upload(stream, weight, [hidden], weightDType),
    residual: residual && upload(stream, residual, shape, dtype),
    values: { x: wideValues.filter((_, i) => isInside(i)), weight, residual },
  };
}
