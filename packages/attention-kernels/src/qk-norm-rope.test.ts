import { expect, test } from 'vitest';
import {
  cpuLimits,
  fakeStream,
  fakeTensor,
  foreignTensor,
  h200Limits,
} from '../test/makers/fake-tensor.js';
import {
  ArgumentRangeError,
  DeviceError,
  DTypeError,
  NotLoadedError,
  ShapeError,
} from './errors/index.js';
import { type QkNormRopeInput, qkNormRope } from './qk-norm-rope.js';
import { planQkNormRope, type QkNormRopeShape } from './qk-norm-rope.plan.js';

const stream = fakeStream();
const options = { stream, rotaryDim: 16, theta: 5e6 };
const input: QkNormRopeInput = {
  q: fakeTensor([3, 8, 32], 'bf16', { strides: [512, 32, 1] }),
  k: fakeTensor([3, 2, 32], 'bf16', { strides: [512, 32, 1] }),
  indexQ: fakeTensor([3, 2, 32], 'bf16'),
  indexK: fakeTensor([3, 1, 32], 'bf16'),
  qWeight: fakeTensor([32], 'f32'),
  kWeight: fakeTensor([32], 'f32'),
  positions: fakeTensor([3], 'i32'),
};
const call = (change: Partial<QkNormRopeInput>, more: object = {}) =>
  qkNormRope({ ...input, ...change }, { ...options, ...more });

test('a call that passes its checks asks for the kernels', () => {
  expect(() => call({})).toThrow(NotLoadedError);
  expect(() => call({})).toThrow('await loadAttentionKernels(runtime)');
});

test('no tokens: empty outputs, nothing launched', () => {
  const none = { q: fakeTensor([0, 8, 32], 'f32'), k: fakeTensor([0, 2, 32], 'f32') };
  const empty = {
    ...none,
    positions: fakeTensor([0], 'i32'),
    indexQ: undefined,
    indexK: undefined,
  };
  expect(call(empty).q.shape).toEqual([0, 8, 32]);
});

test('rows may be apart, but neither overlap nor have holes', () => {
  const overlapping = fakeTensor([3, 8, 32], 'bf16', { strides: [255, 32, 1] });
  expect(() => call({ q: overlapping })).toThrow(ShapeError);
  const holes = fakeTensor([3, 8, 32], 'bf16', { strides: [512, 64, 1] });
  expect(() => call({ q: holes })).toThrow('qkNormRope: q must have dense rows');
});

test('shapes, dtypes and devices are named', () => {
  const wrongK = { k: fakeTensor([3, 2, 64], 'bf16') };
  expect(() => call(wrongK)).toThrow('k must have shape [3, kvHeads, 32], got [3, 2, 64]');
  expect(() => call({ k: fakeTensor([3, 2, 32], 'f32') })).toThrow(DTypeError);
  expect(() => call({ q: foreignTensor([3, 8, 32], 'bf16') })).toThrow(DeviceError);
  expect(() => call({ positions: fakeTensor([2], 'i32') })).toThrow(ShapeError);
  const mixed = { kWeight: fakeTensor([32], 'bf16') };
  expect(() => call(mixed)).toThrow('kWeight must be f32, got bf16');
  const large = { q: fakeTensor([3, 1, 513], 'f32'), k: fakeTensor([3, 1, 513], 'f32') };
  expect(() => call({ ...large, indexQ: undefined, indexK: undefined })).toThrow(
    ArgumentRangeError,
  );
});

test('lablup/mlxcel#763, #799: the index key has a single head', () => {
  const fourHeads = { indexK: fakeTensor([3, 4, 32], 'bf16') };
  expect(() => call(fourHeads)).toThrow('indexK must have shape [3, 1, 32], got [3, 4, 32]');
});

test('llama.cpp#24908: half an index pair is refused, not skipped', () => {
  expect(() => call({ indexK: undefined })).toThrow('indexK is missing');
  const orphan = { indexQ: undefined, indexK: undefined, indexQWeight: fakeTensor([32], 'f32') };
  expect(() => call(orphan)).toThrow('indexQWeight needs `indexQ` and `indexK`');
});

test.each([
  ['rotaryDim', 15],
  ['rotaryDim', 34],
  ['rotaryDim', -2],
  ['theta', 0],
  ['theta', Number.NaN],
  ['eps', -1],
])('%s = %s is refused', (name, value) => {
  expect(() => call({}, { [name]: value })).toThrow(ArgumentRangeError);
});

const shape: QkNormRopeShape = {
  ...{ tokens: 5, allHeads: 73, kvHeads: 4, headDim: 128, indexDim: 128, rotaryDim: 64 },
  ...({ dtype: 'bf16', hasCache: true, isAligned: true } as const),
};
const planned = (change: Partial<QkNormRopeShape>, limits = h200Limits) =>
  planQkNormRope({ ...shape, ...change }, limits);

test('the plan has a block per token and four heads, fewer when tokens fill the device', () => {
  expect(planned({ dtype: 'f32' })).toEqual({
    kernel: 'qk_norm_rope_f32',
    config: { grid: [5, 19], block: [128] },
    workspaceBytes: 0,
  });
  expect(planned({ dtype: 'f32', tokens: 2000 }).config.grid).toEqual([2000, 1]);
});

test('heads of 128 in bf16 have a kernel of their own, half a warp each, v among them', () => {
  expect(planned({})).toMatchObject({ kernel: 'qk_norm_rope_bf16_128', config: { grid: [5, 10] } });
  expect(planned({ hasCache: false, indexDim: 0, allHeads: 64 }).config.grid).toEqual([5, 8]);
  const others = [{ headDim: 64 }, { indexDim: 64 }, { rotaryDim: 24 }, { isAligned: false }];
  for (const change of others) expect(planned(change).kernel).toBe('qk_norm_rope_bf16');
  expect(planned({}, cpuLimits).kernel).toBe('qk_norm_rope_bf16');
});

test('a cache is checked as kvWrite checks it, under the name of this operation', () => {
  const cache = {
    v: fakeTensor([3, 2, 32], 'bf16'),
    slots: fakeTensor([3], 'i32'),
    kCache: fakeTensor([9, 8, 2, 32], 'bf16'),
    vCache: fakeTensor([9, 8, 2, 32], 'bf16'),
    indexKeys: fakeTensor([9, 8, 32], 'bf16'),
  };
  expect(() => call({}, { cache })).toThrow(NotLoadedError);
  const without = { ...cache, indexKeys: undefined };
  expect(() => call({}, { cache: without })).toThrow('qkNormRope: indexKeys is missing');
  const narrow = { ...cache, kCache: fakeTensor([9, 8, 2, 16], 'bf16') };
  expect(() => call({}, { cache: narrow })).toThrow(
    'qkNormRope: kCache must have shape [pages, pageTokens, 2, 32], got [9, 8, 2, 16]',
  );
});
