import type { Tensor } from '@altstream/cuda-runtime';
import {
  describeEachBackend,
  download,
  expectClose,
  poison,
  seededRandom,
  upload,
} from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { add, loadDenseKernels } from '../src/index.js';
import { addCases } from './cases/add.js';
import { freshSeed, seedNote } from './makers/fresh-seed.js';
import { roundTo } from './makers/round-to.js';
import { referenceAdd } from './reference/add.js';

describeEachBackend('add', addCases, async ({ stream, runtime }, { shape, dtype }) => {
  await loadDenseKernels(runtime);
  const random = seededRandom(freshSeed);
  const count = shape.reduce((a, b) => a * b, 1);
  // scales far apart, so that the smaller term is rounded away in some elements and not in others
  const a = roundTo(random.floats(count, 1), dtype);
  const b = roundTo(
    random.floats(count, 1).map((value, i) => value * 2 ** ((i % 25) - 12)),
    dtype,
  );
  const [deviceA, deviceB] = [a, b].map((data) => upload(stream, data, shape, dtype));
  if (!deviceA || !deviceB) throw new Error('unreachable');
  const values = async (tensor: Tensor) => (await download(stream, tensor)) as Float32Array;
  const out = stream.tensor(shape, dtype);
  poison(stream, out);
  add({ a: deviceA, b: deviceB }, { stream, out });
  // fp32 sum, one rounding: exact, so the bits must agree
  const expected = roundTo(Float32Array.from(referenceAdd(a, b)), dtype);
  expectClose(await values(out), expected, { message: seedNote });
  expectClose(await values(deviceA), a, { message: 'a is untouched' });

  add({ a: deviceA, b: deviceB }, { stream, out: deviceB });
  expectClose(await values(deviceB), expected, { message: `in place, ${seedNote}` });
});

const specials = [
  { name: 'bf16 special values', dtype: 'bf16' as const, largest: 3.3895313892515355e38 },
  { name: 'f32 special values', dtype: 'f32' as const, largest: 3.4028234663852886e38 },
];

describeEachBackend('add', specials, async ({ stream, runtime }, { dtype, largest }) => {
  await loadDenseKernels(runtime);
  const infinity = Number.POSITIVE_INFINITY;
  const a = [Number.NaN, infinity, largest, -0, 0, 1, -infinity];
  const b = [1, -infinity, largest, -0, -0, Number.NaN, 5];
  const y = add({ a: upload(stream, a, [7], dtype), b: upload(stream, b, [7], dtype) }, { stream });
  expect([...((await download(stream, y)) as Float32Array)]).toEqual([
    Number.NaN,
    Number.NaN,
    infinity,
    -0,
    0,
    Number.NaN,
    -infinity,
  ]);
});
