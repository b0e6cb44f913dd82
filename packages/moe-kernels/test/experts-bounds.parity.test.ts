import type { TensorAllocator } from '@altstream/cuda-runtime';
import { describeEachBackend, download, upload } from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { expertsDown, expertsGateUp, loadMoeKernels } from '../src/index.js';
import { pathsFor } from './makers/paths.js';

// A permutation is data of the device: nobody can check it before the launch.
const most = 2 ** 31 - 1;
const routings = [
  { name: 'rows beyond the end', offsets: [0, 1, most], rows: [0, 1], right: [true, false] },
  { name: 'rows before the start', offsets: [-1000000, 1, 2], rows: [0, 1], right: [false, true] },
  { name: 'offsets that fall', offsets: [1, 0, 2], rows: [0, 1], right: [true, true] },
  { name: 'pairs that do not exist', offsets: [0, 1, 2], rows: [0, most], right: [true, null] },
  { name: 'negative pairs', offsets: [0, 1, 2], rows: [0, -most], right: [true, null] },
];

const cases = [1, 64].flatMap((columns) =>
  routings.map((routing) => ({ ...routing, name: `${routing.name}, ${columns} columns`, columns })),
);

describeEachBackend(
  'experts stay inside their tensors with',
  cases,
  async ({ stream, runtime }, { offsets, rows, right, columns }) => {
    await loadMoeKernels(runtime);
    const permutation = {
      offsets: upload(stream, offsets, [3], 'i32'),
      rows: upload(stream, rows, [2], 'i32'),
      slots: upload(stream, [0, 1], [2, 1], 'i32'),
    };
    const allocator: TensorAllocator = {
      tensor(shape, dtype) {
        const tensor = stream.tensor(shape, dtype);
        stream.fill(tensor, 0);
        return tensor;
      },
    };
    // Warpgroups want whole stages of columns.
    const path = pathsFor(stream.device, columns).at(-1);
    const options = { stream, allocator, ...(path && { path }) };
    const ones = (...shape: number[]) =>
      upload(stream, new Float32Array(shape.reduce((a, b) => a * b)).fill(1), shape, 'bf16');
    const hidden = ones(2, columns);
    const w13 = { data: ones(2, 2, columns) };
    const y = expertsGateUp({ hidden, w13, permutation }, { limit: 7 }, options);
    const w2 = { data: ones(2, 1, columns) };
    const h2 = expertsDown({ y: ones(2, columns), w2, permutation }, options);
    const gates = [...(await download(stream, y))].map((value) => value !== 0);
    const downs = [...(await download(stream, h2))].map((value) => value !== 0);
    expect(downs).toEqual(right.map((isRight) => isRight ?? true));
    for (const [row, isRight] of right.entries()) {
      if (isRight !== null) expect(gates[row]).toBe(isRight);
    }
  },
);
