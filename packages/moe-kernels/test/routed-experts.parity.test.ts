import {
  describeEachBackend,
  download,
  expectClose,
  upload,
} from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { loadMoeKernels, RoutedExperts } from '../src/index.js';
import { expertsCases } from './cases/experts-gate-up.js';
import { makeExperts, uploadExperts } from './makers/experts.js';
import { poisoned } from './makers/poisoned-allocator.js';
import { referenceRoutedExperts } from './reference/routed-experts.js';
import { calcDiff } from './tolerance.js';

/** A y that rounds to the other side of a tie moves h2 by 2^-8 of one of many terms. */
const elementTolerance = { bf16: 2 ** -7, f32: 4e-5 };
const largestDiff = { bf16: 1e-5, f32: 1e-11 };

// The sampled cases of the real width would take the reference minutes.
const wholeCases = expertsCases.filter(({ every }) => every === undefined);

describeEachBackend('RoutedExperts', wholeCases, async ({ stream, runtime }, testCase) => {
  await loadMoeKernels(runtime);
  const { tokens, k, experts: numExperts, hidden, activations, swiglu = {} } = testCase;
  const data = makeExperts(testCase);
  const outputScale = 2.5;
  using experts = new RoutedExperts(uploadExperts(stream, data), {
    numExperts,
    swiglu,
    outputScale,
  });
  const input = {
    hidden: upload(stream, data.x, [tokens, hidden], activations),
    topk: {
      ids: upload(stream, data.ids, [tokens, k], 'i32'),
      weights: upload(stream, data.routerWeights, [tokens, k], 'f32'),
    },
  };
  const out = experts.forward(input, { stream, allocator: poisoned(stream) });

  expect([out.shape, out.dtype]).toEqual([[tokens, hidden], activations]);
  const actual = (await download(stream, out)) as Float32Array;
  const expected = referenceRoutedExperts(
    { x: data.x, ids: data.ids, weights: data.routerWeights, k, scale: outputScale },
    data.reference,
    experts.describe().swiglu,
    data.round,
  );
  const rms = Math.sqrt(expected.reduce((sum, v) => sum + v * v, 0) / expected.length);
  const relative = elementTolerance[activations];
  expectClose(actual, expected, { relative, absolute: relative * rms });
  expect(calcDiff(actual, expected)).toBeLessThanOrEqual(largestDiff[activations]);
});
