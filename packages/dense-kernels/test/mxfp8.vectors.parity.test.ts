// Byte vectors of the MXFP8 format on every backend; the slow reference has to give them too.
import { describeEachBackend, downloadRaw, upload } from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { dequantizeMxfp8, loadDenseKernels, packMxfp8Scales, quantizeMxfp8 } from '../src/index.js';
import {
  blockVectors,
  elementVectors,
  scaleVectors,
  tileVectors,
  valueVectors,
} from './cases/mxfp8-vectors.js';
import { packedOffset } from './reference/pack-mxfp8-scales.js';
import { decodeE4m3, decodeE8m0, referenceQuantize } from './reference/quantize-mxfp8.js';

const modes = ['floor', 'ceil', 'even', 'rceil'] as const;
const modeCases = modes.map((mode, column) => ({ name: mode, mode, column: column + 1 }));

/** One block a value list: the values, zeros behind. */
function blocksOf(lists: readonly (readonly number[])[]): Float32Array {
  const blocks = new Float32Array(lists.length * 32);
  lists.forEach((list, i) => {
    blocks.set(list, i * 32);
  });
  return blocks;
}

const amaxBlocks = blocksOf(scaleVectors.map(([amax]) => [0, -amax]));

describeEachBackend('scale bytes', modeCases, async ({ stream, runtime }, { mode, column }) => {
  await loadDenseKernels(runtime);
  const expected = Uint8Array.from(scaleVectors, (vector) => vector[column] ?? -1);
  const x = upload(stream, amaxBlocks, [scaleVectors.length, 32], 'f32');
  const { scales } = quantizeMxfp8({ x }, { stream, scaleMode: mode });
  expect(await downloadRaw(stream, scales)).toEqual(expected);
  expect(referenceQuantize(amaxBlocks, mode).scales).toEqual(expected);
});

const elementBlocks = blocksOf(elementVectors.map(([value]) => [448, value]));
const wholeBlocks = blocksOf(blockVectors.map(({ values }) => values));

describeEachBackend('codes', [{ name: 'f32' }], async ({ stream, runtime }) => {
  await loadDenseKernels(runtime);
  const elements = upload(stream, elementBlocks, [elementVectors.length, 32], 'f32');
  const codes = await downloadRaw(stream, quantizeMxfp8({ x: elements }, { stream }).data);
  const reference = referenceQuantize(elementBlocks).data;
  elementVectors.forEach(([value, code], i) => {
    expect(codes[i * 32 + 1], `code of ${value}`).toBe(code);
    expect(reference[i * 32 + 1], `reference code of ${value}`).toBe(code);
  });
  const x = upload(stream, wholeBlocks, [blockVectors.length, 32], 'f32');
  const whole = quantizeMxfp8({ x }, { stream });
  const [data, scales] = [
    await downloadRaw(stream, whole.data),
    await downloadRaw(stream, whole.scales),
  ];
  blockVectors.forEach(({ scale, codes: leading, values }, i) => {
    expect(scales[i], `scale of [${values}]`).toBe(scale);
    expect([...data.subarray(i * 32, i * 32 + leading.length)]).toEqual(leading);
  });
});

describeEachBackend('values', [{ name: 'f32' }], async ({ stream, runtime }) => {
  await loadDenseKernels(runtime);
  const codes = new Uint8Array(valueVectors.length * 32);
  valueVectors.forEach(([code], i) => {
    codes[i * 32] = code;
  });
  const data = upload(stream, codes, [valueVectors.length, 32], 'e4m3');
  const scaleBytes = Uint8Array.from(valueVectors, ([, scale]) => scale);
  const scales = upload(stream, scaleBytes, [valueVectors.length, 1], 'e8m0');
  const y = dequantizeMxfp8({ data, scales }, { stream, outDtype: 'f32' });
  const got = new Float32Array((await downloadRaw(stream, y)).slice().buffer);
  valueVectors.forEach(([code, scale, value], i) => {
    expect(got[i * 32], `code ${code} scale ${scale}`).toBe(value);
    expect(Math.fround(decodeE4m3(code) * decodeE8m0(scale))).toBe(value);
  });
});

describeEachBackend('tiles', [{ name: '256 x 8' }], async ({ stream, runtime }) => {
  await loadDenseKernels(runtime);
  const bytes = new Uint8Array(256 * 8);
  tileVectors.forEach(([row, block], i) => {
    bytes[row * 8 + block] = 100 + i;
  });
  const scales = upload(stream, bytes, [256, 8], 'e8m0');
  const packed = await downloadRaw(stream, packMxfp8Scales({ scales }, { stream }));
  tileVectors.forEach(([row, block, offset], i) => {
    expect(packed[offset], `(${row}, ${block})`).toBe(100 + i);
    expect(packedOffset(row, block, 2)).toBe(offset);
  });
});
