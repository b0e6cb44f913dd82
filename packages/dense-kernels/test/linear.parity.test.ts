import { type Stream, Tensor } from '@altstream/cuda-runtime';
import {
  describeEachBackend,
  download,
  expectClose,
  poison,
  upload,
} from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { linear, loadDenseKernels } from '../src/index.js';
import {
  batchCases,
  type LinearCase,
  type LinearData,
  linearCases,
  makeLinearData,
  routerCases,
  specialCases,
  spreadCases,
  streamCases,
  stridedCases,
  wideCases,
} from './cases/linear.js';
import { freshSeed, seedNote } from './makers/fresh-seed.js';
import { linearInside, roundingOf } from './makers/tolerance.js';
import { referenceLinear } from './reference/linear.js';

/** Operands on the device; x is a slice where the case says so. */
function place(stream: Stream, testCase: LinearCase, data: LinearData) {
  const { tokens, out, xColumns = testCase.in } = testCase;
  const columns = testCase.in;
  const isMxfp8 = testCase.weight === 'mxfp8';
  const dtype = testCase.weight === 'mxfp8' ? 'e4m3' : testCase.weight;
  const weight = upload(stream, isMxfp8 ? data.codes : data.weight, [out, columns], dtype);
  const scales = isMxfp8 ? upload(stream, data.scales, [out, columns / 32], 'e8m0') : undefined;
  const whole = upload(stream, data.x, [tokens, xColumns], testCase.x);
  const first = Math.floor((xColumns - columns) / 2);
  const x = xColumns === columns ? whole : whole.slice(1, first, first + columns);
  const y = stream.tensor([tokens, out], testCase.y);
  poison(stream, y);
  return { x, weight: { data: weight, scales }, y, first };
}

/** Row `token` of the reference's x. */
function usedColumns(testCase: LinearCase, x: Float32Array, first: number): Float32Array {
  const { tokens, xColumns = testCase.in } = testCase;
  const used = new Float32Array(tokens * testCase.in);
  for (let token = 0; token < tokens; token += 1) {
    const start = token * xColumns + first;
    used.set(x.subarray(start, start + testCase.in), token * testCase.in);
  }
  return used;
}

describeEachBackend(
  'linear agrees with float64',
  [
    ...linearCases,
    ...stridedCases,
    ...specialCases,
    ...streamCases,
    ...spreadCases,
    ...routerCases,
  ],
  async ({ stream, runtime }, testCase) => {
    await loadDenseKernels(runtime);
    const data = makeLinearData(testCase, freshSeed);
    const { x, weight, y, first } = place(stream, testCase, data);
    linear({ x, weight, outDtype: testCase.y }, { stream, out: y });
    const got = await download(stream, y);
    const used = usedColumns(testCase, data.x, first);
    const { y: expected, magnitude } = referenceLinear(used, data.weight, testCase);
    expect(got.length).toBe(expected.length);
    for (let i = 0; i < expected.length; i += 1) {
      const absolute = linearInside(testCase.in) * (magnitude[i] ?? 0);
      const message = `${seedNote}, element ${i}`;
      const relative = roundingOf(testCase.y);
      expectClose([Number(got[i])], [expected[i] ?? 0], { absolute, relative, message });
    }
  },
);

describeEachBackend(
  'a row does not depend on its batch',
  [
    ...linearCases,
    ...specialCases,
    ...batchCases,
    ...streamCases,
    ...spreadCases,
    ...wideCases,
    ...routerCases,
  ].filter(({ tokens, out }) => tokens > 1 && out > 8),
  async ({ stream, runtime }, testCase) => {
    await loadDenseKernels(runtime);
    const { x, weight, y } = place(stream, testCase, makeLinearData(testCase, freshSeed + 1));
    linear({ x, weight, outDtype: testCase.y }, { stream, out: y });
    const together = await download(stream, y);
    for (const token of [0, testCase.tokens - 1]) {
      const alone = linear(
        { x: x.slice(0, token, token + 1), weight, outDtype: testCase.y },
        { stream },
      );
      const row = together.subarray(token * testCase.out, (token + 1) * testCase.out);
      expect(await download(stream, alone), seedNote).toEqual(row);
    }
  },
);

describeEachBackend(
  'y may be a slice of columns',
  linearCases.filter(({ tokens }) => tokens === 3),
  async ({ stream, runtime, device }, testCase) => {
    await loadDenseKernels(runtime);
    const { x, weight, y } = place(stream, testCase, makeLinearData(testCase, freshSeed + 2));
    linear({ x, weight, outDtype: testCase.y }, { stream, out: y });
    const wide = Tensor.allocate(device, [testCase.tokens, testCase.out + 10], testCase.y, {
      stream,
    });
    stream.fill(wide, 0);
    linear(
      { x, weight, outDtype: testCase.y },
      { stream, out: wide.slice(1, 3, 3 + testCase.out) },
    );
    const [dense, padded] = [await download(stream, y), await download(stream, wide)];
    const width = testCase.out + 10;
    for (let i = 0; i < padded.length; i += 1) {
      const [token, column] = [Math.floor(i / width), (i % width) - 3];
      const isInside = column >= 0 && column < testCase.out;
      expect(padded[i]).toBe(isInside ? dense[token * testCase.out + column] : 0);
    }
  },
);
