import { type DeviceBuffer, Tensor } from '@altstream/cuda-runtime';
import { expect, test } from 'vitest';
import { ShapeError } from './errors/index.js';
import { headsView } from './heads-view.js';

const buffer = { bytes: 4096 } as unknown as DeviceBuffer;
const projection = Tensor.of(buffer, [3, 40], 'bf16', { byteOffset: 64 });

test('columns of a projection are heads of the same memory', () => {
  const heads = headsView(projection, { start: 8, heads: 4, headDim: 6 });
  expect(heads.shape).toEqual([3, 4, 6]);
  expect(heads.strides).toEqual([40, 6, 1]);
  expect(heads.byteOffset).toBe(64 + 16);
  expect(heads.buffer).toBe(buffer);
  expect(heads.dtype).toBe('bf16');
});

test('a view of rows keeps its row stride, and no tokens are fine', () => {
  const rows = projection.slice(1, 10, 30).slice(0, 1, 3);
  const heads = headsView(rows, { start: 0, heads: 2, headDim: 10 });
  expect(heads.strides).toEqual([40, 10, 1]);
  expect(heads.byteOffset).toBe(64 + 80 + 20);
  const none = headsView(projection.slice(0, 3, 3), { start: 0, heads: 1, headDim: 40 });
  expect(none.shape).toEqual([0, 1, 40]);
});

test('columns outside the projection and tensors that are no matrix are refused', () => {
  expect(() => headsView(projection, { start: 8, heads: 4, headDim: 9 })).toThrow(ShapeError);
  expect(() => headsView(projection, { start: -1, heads: 1, headDim: 9 })).toThrow(
    'headsView: projection must be a matrix with dense rows that holds columns [-1, 8)',
  );
  const cube = projection.view([3, 4, 10]);
  expect(() => headsView(cube, { start: 0, heads: 1, headDim: 4 })).toThrow('got bf16 [3, 4, 10]');
});
