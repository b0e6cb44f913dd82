import { expect, test } from 'vitest';
import { fakeStream, fakeTensor, foreignTensor } from '../test/makers/fake-tensor.js';
import type { AttentionInput } from './arguments/attention-input.js';
import {
  ArgumentRangeError,
  DeviceError,
  DTypeError,
  NotLoadedError,
  ShapeError,
} from './errors/index.js';
import { pagedAttention } from './paged-attention.js';

const stream = fakeStream();
const input: AttentionInput = {
  q: fakeTensor([3, 8, 32], 'bf16'),
  kCache: fakeTensor([9, 8, 2, 32], 'bf16'),
  vCache: fakeTensor([9, 8, 2, 32], 'bf16'),
  pageTable: fakeTensor([2, 4], 'i32'),
  positions: fakeTensor([3], 'i32'),
  sequenceIds: fakeTensor([3], 'i32'),
};
const call = (change: Partial<AttentionInput>, more: object = {}) =>
  pagedAttention({ ...input, ...change }, { stream, ...more });

test('a call that passes its checks asks for the kernels', () => {
  expect(() => call({})).toThrow(NotLoadedError);
});

test('no tokens: an empty output, nothing launched', () => {
  const ids = fakeTensor([0], 'i32');
  const q = fakeTensor([0, 8, 32], 'bf16');
  expect(call({ q, positions: ids, sequenceIds: ids }).shape).toEqual([0, 256]);
});

test('heads come in whole groups', () => {
  expect(() => call({ q: fakeTensor([3, 7, 32], 'bf16') })).toThrow(
    'q has 7 heads, which is no multiple of 2 KV heads',
  );
});

test('shapes, dtypes, strides and devices are named', () => {
  expect(() => call({ kCache: fakeTensor([9, 8, 2, 64], 'bf16') })).toThrow(
    'pagedAttention: kCache must have shape [pages, pageTokens, kvHeads, 32], got [9, 8, 2, 64]',
  );
  expect(() => call({ vCache: fakeTensor([8, 8, 2, 32], 'bf16') })).toThrow(ShapeError);
  expect(() => call({ kCache: fakeTensor([9, 8, 2, 32], 'f32') })).toThrow(DTypeError);
  const apart = fakeTensor([3, 8, 32], 'bf16', { strides: [512, 32, 1] });
  expect(() => call({ q: apart })).toThrow('q must be contiguous');
  expect(() => call({ pageTable: foreignTensor([2, 4], 'i32') })).toThrow(DeviceError);
  expect(() => call({ pageTable: fakeTensor([2, 0], 'i32') })).toThrow('at least one of maxPages');
  expect(() => call({ sequenceIds: fakeTensor([4], 'i32') })).toThrow(ShapeError);
  expect(() => call({}, { out: fakeTensor([3, 8, 32], 'bf16') })).toThrow('out must have shape');
});

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('scale %s is refused', (scale) => {
  expect(() => call({}, { scale })).toThrow(ArgumentRangeError);
});
