import { expect, test } from 'vitest';
import { cpuLimits, fakeStream, fakeTensor, h200Limits } from '../test/makers/fake-tensor.js';
import { type BlockScoresInput, type BlockScoresOptions, blockScores } from './block-scores.js';
import { planBlockScores } from './block-scores.plan.js';
import { ArgumentRangeError, DTypeError, NotLoadedError, ShapeError } from './errors/index.js';

const stream = fakeStream();
const input: BlockScoresInput = {
  indexQ: fakeTensor([3, 2, 32], 'bf16'),
  indexKeys: fakeTensor([9, 8, 32], 'bf16'),
  pageTable: fakeTensor([2, 6], 'i32'),
  positions: fakeTensor([3], 'i32'),
  sequenceIds: fakeTensor([3], 'i32'),
};
const call = (change: Partial<BlockScoresInput>, more: Partial<BlockScoresOptions> = {}) =>
  blockScores({ ...input, ...change }, { stream, topkBlocks: 4, ...more });

test('a call that passes its checks asks for the kernels', () => {
  expect(() => call({})).toThrow(NotLoadedError);
  expect(() => call({}, { scoreType: 'lse', range: { first: 1, count: 2 } })).toThrow(
    NotLoadedError,
  );
});

test('an empty range gives empty scores, nothing launched', () => {
  expect(call({}, { range: { first: 3, count: 0 } }).shape).toEqual([0, 2, 6]);
});

test('shapes, dtypes and ranges are named', () => {
  const wide = { indexKeys: fakeTensor([9, 8, 64], 'bf16') };
  expect(() => call(wide)).toThrow('indexKeys must have shape [pages, pageTokens, 32]');
  expect(() => call({ indexQ: fakeTensor([3, 64], 'bf16') })).toThrow(ShapeError);
  expect(() => call({}, { range: { first: 2, count: 2 } })).toThrow(
    'range.count must be a whole number in [0, 1], got 2',
  );
  expect(() => call({}, { topkBlocks: 0 })).toThrow(ArgumentRangeError);
  const median = { scoreType: 'median' } as unknown as BlockScoresOptions;
  expect(() => call({}, median)).toThrow("scoreType must be 'max' or 'lse', got median");
  const out = fakeTensor([3, 2, 5], 'f32');
  expect(() => call({}, { out })).toThrow('out must have shape [3, 2, 6], got [3, 2, 5]');
});

test('vllm#50856: an fp8 index cache is refused before a kernel sees it', () => {
  const quantised = { indexKeys: fakeTensor([9, 8, 32], 'e4m3') };
  expect(() => call(quantised)).toThrow(DTypeError);
  expect(() => call(quantised)).toThrow('indexKeys must be bf16, got e4m3');
});

const shape = {
  ...{ tokens: 2, sequences: 2, indexHeads: 4, indexDim: 128, maxPages: 8192, pageTokens: 128 },
  ...({ dtype: 'bf16', scoreType: 'max', isAligned: true } as const),
};

test('the grid is what the device can use, so that a captured launch serves longer contexts', () => {
  const plan = planBlockScores(shape, h200Limits);
  expect(plan.kernel).toBe('block_scores_bf16_mma');
  expect(plan.config).toEqual({ grid: [2, 1056], block: [128] });
  expect(plan.workspaceBytes).toBe(2 * 4 * 8192 * 4);
  const planned = (change: object) => planBlockScores({ ...shape, ...change }, h200Limits).config;
  expect(planned({ maxPages: 30 })).toEqual({ grid: [2, 30], block: [128] });
  expect(planned({ maxPages: 30, pageTokens: 33 }).block).toEqual([64]);
  expect(planned({ maxPages: 30, pageTokens: 8 }).block).toEqual([32]);
  expect(planned({ maxPages: 30, dtype: 'f32' })).toEqual({ grid: [2, 30], block: [32] });
  expect(planned({ dtype: 'f32' })).toEqual({ grid: [2, 1056], block: [128] });
});

test('tensor cores take bf16 maxima of usual sizes, several tokens a tile in prefill', () => {
  const { tileTokens, config } = planBlockScores({ ...shape, tokens: 2048 }, h200Limits);
  expect({ tileTokens, grid: config.grid }).toEqual({ tileTokens: 4, grid: [512, 5] });
  const decode = planBlockScores({ ...shape, tokens: 256, sequences: 256 }, h200Limits);
  expect(decode.tileTokens).toBe(1);
  const kernelOf = (change: object, limits = h200Limits) =>
    planBlockScores({ ...shape, ...change }, limits).kernel;
  expect(kernelOf({ scoreType: 'lse' })).toBe('block_scores_bf16');
  expect(kernelOf({ indexDim: 96 })).toBe('block_scores_bf16');
  expect(kernelOf({ indexHeads: 17 })).toBe('block_scores_bf16');
  expect(kernelOf({ isAligned: false })).toBe('block_scores_bf16');
  expect(kernelOf({ dtype: 'f32' })).toBe('block_scores_f32');
  expect(kernelOf({}, cpuLimits)).toBe('block_scores_bf16');
});
