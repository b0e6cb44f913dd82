import type { Stream } from '@altstream/cuda-runtime';
import {
  describeEachBackend,
  download,
  poison,
  seededRandom,
  upload,
} from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { loadDenseKernels, type SwigluOaiInput, swigluOai } from '../src/index.js';
import { type SwigluOaiCase, swigluOaiCases, swigluOaiVectors } from './cases/swiglu-oai.js';
import { freshSeed, seedNote } from './makers/fresh-seed.js';
import { roundTo } from './makers/round-to.js';
import { differsFromEarlierLevel } from './makers/same-bits.js';
import { f32Rounding, roundingOf } from './makers/tolerance.js';
import { referenceSwigluOai } from './reference/swiglu-oai.js';

describeEachBackend('swigluOai', swigluOaiCases, async ({ stream, runtime, device }, testCase) => {
  await loadDenseKernels(runtime);
  const { tokens, intermediate, dtype, alpha = 1.702, beta = 1, limit = 7 } = testCase;
  const { gate, up, input } = makeInput(testCase, stream);
  const out = stream.tensor([tokens, intermediate], dtype);
  poison(stream, out);
  swigluOai(input, { stream, alpha, beta, limit, out });
  const y = (await download(stream, out)) as Float32Array;
  expect(y.length).toBe(gate.length);
  const constants = { alpha: Math.fround(alpha), beta: Math.fround(beta), limit };
  for (const [i, actual] of y.entries()) {
    const g = gate[i] ?? 0;
    const expected = referenceSwigluOai(g, up[i] ?? 0, constants);
    const allowed = Math.abs(expected) * relativeError(alpha * g, dtype) + 2 ** -133;
    if (!(Math.abs(actual - expected) <= allowed)) {
      const message = `gate ${g}, up ${up[i]}: got ${actual}, expected ${expected} (${seedNote})`;
      expect.fail(message);
    }
  }
  expect(differsFromEarlierLevel(testCase.name, device, y), seedNote).toBe('');
});

// The exponent alpha * g is rounded once, which e^x turns into a relative error of its size; the
// exponential, sum, quotient, two products and up + beta add at most eight roundings more.
function relativeError(exponent: number, dtype: 'bf16' | 'f32'): number {
  return (Math.abs(exponent) + 8) * f32Rounding + roundingOf(dtype);
}

/** Gates from far below the clamp to above it, among them -20 and values that underflow. */
function makeInput({ tokens, intermediate, dtype, packed }: SwigluOaiCase, stream: Stream) {
  const random = seededRandom(freshSeed);
  const count = tokens * intermediate;
  const scales = [1, 8, 20, 60];
  const draw = () =>
    roundTo(
      random.floats(count, 1).map((value, i) => value * (scales[i % 4] ?? 1)),
      dtype,
    );
  const [gate, up] = [draw(), draw()];
  const gap = packed ? intermediate : 3;
  const columns = intermediate + gap;
  const wide = new Float32Array(tokens * columns).fill(Number.NaN);
  for (let token = 0; token < tokens; token += 1) {
    const row = [token * intermediate, (token + 1) * intermediate] as const;
    wide.set(gate.subarray(...row), token * columns);
    if (packed) wide.set(up.subarray(...row), token * columns + intermediate);
  }
  const gateUp = upload(stream, wide, [tokens, columns], dtype);
  const input: SwigluOaiInput = packed
    ? { gateUp }
    : {
        gate: gateUp.slice(1, 0, intermediate),
        up: upload(stream, up, [tokens, intermediate], dtype),
      };
  return { gate, up, input };
}

const vectors = [{ name: 'vectors of the specification' }];
describeEachBackend('swigluOai', vectors, async ({ stream, runtime }) => {
  await loadDenseKernels(runtime);
  const shape = [1, swigluOaiVectors.length];
  const gate = upload(
    stream,
    swigluOaiVectors.map(([g]) => g),
    shape,
    'f32',
  );
  const up = upload(
    stream,
    swigluOaiVectors.map(([, u]) => u),
    shape,
    'f32',
  );
  const y = (await download(stream, swigluOai({ gate, up }, { stream }))) as Float32Array;
  for (const [i, [g, u, expected]] of swigluOaiVectors.entries()) {
    // the vectors are given to 8 digits
    const allowed = Math.abs(expected) * (relativeError(1.702 * g, 'f32') + 1e-7);
    expect(Math.abs((y[i] ?? Number.NaN) - expected), `(${g}, ${u})`).toBeLessThanOrEqual(allowed);
  }
});

const specials = [{ name: 'NaN and infinities' }];
describeEachBackend('swigluOai', specials, async ({ stream, runtime }) => {
  await loadDenseKernels(runtime);
  const infinity = Number.POSITIVE_INFINITY;
  const gates = [Number.NaN, 1, infinity, 0, -1000];
  const ups = [1, Number.NaN, -infinity, infinity, 5];
  for (const dtype of ['bf16', 'f32'] as const) {
    const gate = upload(stream, gates, [1, 5], dtype);
    const up = upload(stream, ups, [1, 5], dtype);
    const y = (await download(stream, swigluOai({ gate, up }, { stream }))) as Float32Array;
    expect([y[0], y[1]], 'NaN survives both clamps').toEqual([Number.NaN, Number.NaN]);
    expect(y[2], 'infinite gate and up are clamped to 7 and -7').toBeCloseTo(-42, 0);
    expect(y[3]).toBe(0);
    expect(Math.abs(y[4] ?? 1), 'a gate far below underflows to 0, not to NaN').toBe(0);
  }
});
