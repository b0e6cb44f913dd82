import { describeEachBackend, downloadRaw, poison, upload } from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { loadDenseKernels, quantizeMxfp8 } from '../src/index.js';
import { makeQuantizeData, quantizeCases } from './cases/quantize-mxfp8.js';
import { freshSeed, seedNote } from './makers/fresh-seed.js';
import { referenceQuantize } from './reference/quantize-mxfp8.js';

describeEachBackend(
  'quantizeMxfp8 gives the bytes of the reference',
  quantizeCases,
  async ({ stream, runtime }, testCase) => {
    await loadDenseKernels(runtime);
    const { rows, columns, scaleMode, infPolicy = 'saturate' } = testCase;
    const values = makeQuantizeData(testCase, freshSeed);
    const x = upload(stream, values, [rows, columns], testCase.x);
    const out = {
      data: stream.tensor([rows, columns], 'e4m3'),
      scales: stream.tensor([rows, columns / 32], 'e8m0'),
    };
    poison(stream, out.data);
    poison(stream, out.scales);
    quantizeMxfp8({ x }, { stream, scaleMode, infPolicy, out });
    const expected = referenceQuantize(values, scaleMode, infPolicy);
    expect(await downloadRaw(stream, out.scales), seedNote).toEqual(expected.scales);
    expect(await downloadRaw(stream, out.data), seedNote).toEqual(expected.data);
  },
);

describeEachBackend(
  'quantizeMxfp8 takes rows that are apart',
  quantizeCases.filter(({ rows, values }) => rows === 33 && values === 'normal'),
  async ({ stream, runtime }, testCase) => {
    await loadDenseKernels(runtime);
    const values = makeQuantizeData(testCase, freshSeed);
    const x = upload(stream, values, [testCase.rows, testCase.columns], testCase.x);
    const { data, scales } = quantizeMxfp8({ x: x.slice(1, 32, 64) }, { stream });
    const part = Float32Array.from(
      { length: testCase.rows * 32 },
      (_, i) => values[Math.floor(i / 32) * testCase.columns + 32 + (i % 32)] ?? 0,
    );
    const expected = referenceQuantize(part);
    expect(await downloadRaw(stream, scales), seedNote).toEqual(expected.scales);
    expect(await downloadRaw(stream, data), seedNote).toEqual(expected.data);
  },
);
