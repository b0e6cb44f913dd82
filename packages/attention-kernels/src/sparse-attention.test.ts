import { expect, test } from 'vitest';
import { fakeStream, fakeTensor } from '../test/makers/fake-tensor.js';
import { DTypeError, NotLoadedError, ShapeError } from './errors/index.js';
import { type SparseAttentionInput, sparseAttention } from './sparse-attention.js';

const stream = fakeStream();
const input: SparseAttentionInput = {
  q: fakeTensor([3, 8, 32], 'bf16'),
  kCache: fakeTensor([9, 8, 2, 32], 'bf16'),
  vCache: fakeTensor([9, 8, 2, 32], 'bf16'),
  blocks: fakeTensor([2, 3, 4], 'i32'),
  pageTable: fakeTensor([2, 4], 'i32'),
  positions: fakeTensor([3], 'i32'),
  sequenceIds: fakeTensor([3], 'i32'),
};
const call = (change: Partial<SparseAttentionInput>) =>
  sparseAttention({ ...input, ...change }, { stream });

test('a call that passes its checks asks for the kernels', () => {
  expect(() => call({})).toThrow(NotLoadedError);
});

test('vllm#48929: a token-major selection is refused, not read with the wrong strides', () => {
  expect(() => call({ blocks: fakeTensor([3, 2, 4], 'i32') })).toThrow(
    'blocks must have shape [2, 3, topkBlocks], got [3, 2, 4]',
  );
  const strided = fakeTensor([2, 3, 4], 'i32', { strides: [4, 8, 1] });
  expect(() => call({ blocks: strided })).toThrow('blocks must be contiguous');
});

test('as many lists as KV heads, with a remedy', () => {
  expect(() => call({ blocks: fakeTensor([1, 3, 4], 'i32') })).toThrow(
    'has the lists of 1 index heads, but the cache has 2 KV heads',
  );
  expect(() => call({ blocks: fakeTensor([2, 3, 0], 'i32') })).toThrow(ShapeError);
  expect(() => call({ blocks: fakeTensor([2, 3, 4], 'i64') })).toThrow(DTypeError);
});
