import { expect, test } from 'vitest';
import { fakeStream, fakeTensor } from '../test/makers/fake-tensor.js';
import { attentionCombine } from './attention-combine.js';
import { planAttentionCombine } from './attention-combine.plan.js';
import { ArgumentRangeError, DTypeError, NotLoadedError, ShapeError } from './errors/index.js';

const stream = fakeStream();
const input = {
  partials: fakeTensor([3, 8, 4, 34], 'f32'),
  positions: fakeTensor([3], 'i32'),
  out: fakeTensor([3, 256], 'bf16'),
};
const numbers = { stream, pieceKeys: 128, mostKeys: 512, isCausal: true, scale: 1 };
const call = (change: object, more: object = {}) =>
  attentionCombine({ ...input, ...change }, { ...numbers, ...more });

test('a call that passes its checks asks for the kernels; no tokens launch nothing', () => {
  expect(() => call({})).toThrow(NotLoadedError);
  const [partials, positions] = [fakeTensor([0, 8, 4, 34], 'f32'), fakeTensor([0], 'i32')];
  call({ partials, positions, out: fakeTensor([0, 256], 'bf16') });
});

test('shapes, dtypes and numbers are named', () => {
  expect(() => call({ out: fakeTensor([3, 272], 'bf16') })).toThrow(ShapeError);
  expect(() => call({ out: fakeTensor([3, 256], 'f32') })).toThrow(DTypeError);
  expect(() => call({ partials: fakeTensor([3, 8, 4, 2], 'f32') })).toThrow(ArgumentRangeError);
  expect(() => call({}, { pieceKeys: 256 })).toThrow('pieceKeys must be 128 or 2048, got 256');
  expect(() => call({}, { mostKeys: 513 })).toThrow('mostKeys must be a whole number in [1, 512]');
  expect(() => call({}, { scale: 0 })).toThrow(ArgumentRangeError);
});

const planned = (change: object) =>
  planAttentionCombine({
    ...{ tokens: 3, heads: 8, headDim: 128, mostKeys: 8192, pieceKeys: 128, ...change },
  }).config;

test('the plan has a block per row, and a group of threads per run of pieces', () => {
  expect(planned({})).toEqual({ grid: [3, 8], block: [128, 4] });
  expect(planned({ mostKeys: 2048 }).block).toEqual([128, 1]);
  expect(planned({ mostKeys: 2049, headDim: 64 }).block).toEqual([64, 2]);
  expect(planned({ mostKeys: 2 ** 19 }).block).toEqual([128, 4]);
  expect(planned({ mostKeys: 2 ** 20, pieceKeys: 2048 }).block).toEqual([128, 1]);
});
