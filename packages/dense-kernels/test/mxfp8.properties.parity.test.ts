// What holds for every MXFP8 matrix, whatever its numbers.
import type { Stream } from '@altstream/cuda-runtime';
import {
  describeEachBackend,
  download,
  downloadRaw,
  seededRandom,
  upload,
} from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { dequantizeMxfp8, linear, loadDenseKernels, quantizeMxfp8 } from '../src/index.js';
import { freshSeed, seedNote } from './makers/fresh-seed.js';

const [rows, columns] = [24, 256];
const shape = [rows, columns];
const cases = [
  { name: 'numbers around 1', exponents: [0, 1] as const },
  { name: 'numbers of every size', exponents: [-110, 110] as const },
];

function makeNumbers([low, high]: readonly [number, number]): Float32Array {
  const random = seededRandom(freshSeed);
  const sizes = Array.from({ length: (rows * columns) / 32 }, () => 2 ** random.integer(low, high));
  return random.floats(rows * columns, 1).map((value, i) => value * (sizes[i >> 5] ?? 1));
}

async function quantized(stream: Stream, numbers: Float32Array) {
  const tensors = quantizeMxfp8({ x: upload(stream, numbers, shape, 'f32') }, { stream });
  const wide = dequantizeMxfp8(tensors, { stream, outDtype: 'f32' });
  return {
    tensors,
    data: await downloadRaw(stream, tensors.data),
    scales: await downloadRaw(stream, tensors.scales),
    wide,
    values: (await download(stream, wide)) as Float32Array,
  };
}

describeEachBackend(
  'rounds within half a step and never saturates',
  cases,
  async ({ stream, runtime }, { exponents }) => {
    await loadDenseKernels(runtime);
    const numbers = makeNumbers(exponents);
    const { scales, values } = await quantized(stream, numbers);
    const wrong = [...numbers.keys()].filter((i) => {
      const [x, scale] = [numbers[i] ?? 0, 2 ** ((scales[i >> 5] ?? 0) - 127)];
      const isNormal = Math.abs(x) >= scale * 2 ** -6;
      const allowed = isNormal ? Math.abs(x) * 2 ** -4 : scale * 2 ** -10;
      return Math.abs((values[i] ?? Number.NaN) - x) > allowed || Math.abs(x) > 448 * scale;
    });
    expect(wrong, seedNote).toEqual([]);
  },
);

describeEachBackend(
  'a second quantisation changes no value, and no byte of a well filled block',
  cases,
  async ({ stream, runtime }, { exponents }) => {
    await loadDenseKernels(runtime);
    const once = await quantized(stream, makeNumbers(exponents));
    const twice = await quantized(stream, once.values);
    expect(twice.values, seedNote).toEqual(once.values);
    for (let block = 0; block < once.scales.length; block += 1) {
      const codes = once.data.subarray(block * 32, block * 32 + 32);
      const isFull = codes.some((code) => (code & 0x7f) > 0x76); // above 224
      if (!isFull) continue;
      expect(twice.scales[block], seedNote).toBe(once.scales[block]);
      expect(twice.data.subarray(block * 32, block * 32 + 32), seedNote).toEqual(codes);
    }
  },
);

const products = (['f32', 'bf16'] as const).flatMap((x) =>
  [1, 20].map((tokens) => ({ name: `${x}, ${tokens} tokens`, x, tokens })),
);

describeEachBackend(
  'scales three steps higher make every product eight times as large, exactly',
  products,
  async ({ stream, runtime }, { x: dtype, tokens }) => {
    await loadDenseKernels(runtime);
    const { tensors, scales } = await quantized(stream, makeNumbers([0, 1]));
    const numbers = seededRandom(freshSeed + 1).floats(tokens * columns, 1);
    const x = upload(stream, numbers, [tokens, columns], dtype);
    const higher = upload(
      stream,
      scales.map((byte) => byte + 3),
      [rows, columns / 32],
      'e8m0',
    );
    const run = async (used: typeof higher) => {
      const weight = { data: tensors.data, scales: used };
      return (await download(
        stream,
        linear({ x, weight, outDtype: 'f32' }, { stream }),
      )) as Float32Array;
    };
    const plain = await run(tensors.scales);
    expect(await run(higher), seedNote).toEqual(plain.map((value) => 8 * value));
  },
);
