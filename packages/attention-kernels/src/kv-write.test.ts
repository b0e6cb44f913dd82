import { expect, test } from 'vitest';
import { fakeStream, fakeTensor, foreignTensor } from '../test/makers/fake-tensor.js';
import {
  ArgumentRangeError,
  DeviceError,
  DTypeError,
  NotLoadedError,
  ShapeError,
} from './errors/index.js';
import { type KvWriteInput, kvWrite } from './kv-write.js';
import { planKvWrite } from './kv-write.plan.js';

const stream = fakeStream();
const input: KvWriteInput = {
  k: fakeTensor([3, 2, 32], 'bf16'),
  v: fakeTensor([3, 2, 32], 'bf16', { strides: [512, 32, 1] }),
  indexK: fakeTensor([3, 1, 32], 'bf16'),
  slots: fakeTensor([3], 'i32'),
  kCache: fakeTensor([9, 8, 2, 32], 'bf16'),
  vCache: fakeTensor([9, 8, 2, 32], 'bf16'),
  indexKeys: fakeTensor([9, 8, 32], 'bf16'),
};
const call = (change: Partial<KvWriteInput>) => kvWrite({ ...input, ...change }, { stream });

test('a call that passes its checks asks for the kernels', () => {
  expect(() => call({})).toThrow(NotLoadedError);
  expect(() => call({ indexK: fakeTensor([3, 32], 'bf16') })).toThrow(NotLoadedError);
  expect(() => call({ indexK: undefined, indexKeys: undefined })).toThrow(NotLoadedError);
});

test('no tokens and no cache slots launch nothing', () => {
  const rows = fakeTensor([0, 2, 32], 'bf16');
  const none = { k: rows, v: rows, slots: fakeTensor([0], 'i32') };
  call({ ...none, indexK: fakeTensor([0, 1, 32], 'bf16') });
  const cache = fakeTensor([0, 8, 2, 32], 'bf16');
  call({ kCache: cache, vCache: cache, indexKeys: fakeTensor([0, 8, 32], 'bf16') });
});

test('the index key and its cache come together', () => {
  expect(() => call({ indexKeys: undefined })).toThrow('indexKeys is missing');
  expect(() => call({ indexK: undefined })).toThrow(ArgumentRangeError);
});

test('caches match each other and the rows', () => {
  expect(() => call({ kCache: fakeTensor([9, 8, 4, 32], 'bf16') })).toThrow(
    'kvWrite: kCache must have shape [pages, pageTokens, 2, 32], got [9, 8, 4, 32]',
  );
  expect(() => call({ vCache: fakeTensor([8, 8, 2, 32], 'bf16') })).toThrow(ShapeError);
  expect(() => call({ vCache: fakeTensor([9, 8, 2, 32], 'f32') })).toThrow(DTypeError);
  expect(() => call({ indexKeys: fakeTensor([9, 16, 32], 'bf16') })).toThrow(ShapeError);
  expect(() => call({ slots: foreignTensor([3], 'i32') })).toThrow(DeviceError);
  expect(() => call({ slots: fakeTensor([3], 'i64') })).toThrow('slots must be i32, got i64');
});

test('the plan has a block per token', () => {
  const { kernel, config } = planKvWrite({ tokens: 7, dtype: 'f32' });
  expect({ kernel, config }).toEqual({
    kernel: 'kv_write_f32',
    config: { grid: [7], block: [128] },
  });
});
