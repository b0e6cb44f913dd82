import {
  bf16ToF32,
  describeEachBackend,
  download,
  f32ToBf16,
  poison,
  upload,
} from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { dequantizeMxfp8, loadDenseKernels } from '../src/index.js';
import { dequantizeCases } from './cases/dequantize-mxfp8.js';
import { referenceDequantize } from './reference/dequantize-mxfp8.js';

describeEachBackend(
  'dequantizeMxfp8 is exact',
  dequantizeCases,
  async ({ stream, runtime }, { y: dtype, rows, columns }) => {
    await loadDenseKernels(runtime);
    const codes = Uint8Array.from({ length: rows * columns }, (_, i) => i % 256);
    const scaleBytes = Uint8Array.from({ length: (rows * columns) / 32 }, (_, i) =>
      Math.floor(i / (columns / 32)),
    );
    const data = upload(stream, codes, [rows, columns], 'e4m3');
    const scales = upload(stream, scaleBytes, [rows, columns / 32], 'e8m0');
    const y = stream.tensor([rows, columns], dtype);
    poison(stream, y);
    dequantizeMxfp8({ data, scales }, { stream, outDtype: dtype, out: y });
    const exact = Float32Array.from(referenceDequantize({ data: codes, scales: scaleBytes }));
    const expected = dtype === 'f32' ? exact : bf16ToF32(f32ToBf16(exact));
    expect(await download(stream, y)).toEqual(expected);
  },
);
