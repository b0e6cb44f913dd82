import { expect, test } from 'vitest';
import { fakeStream, fakeTensor } from '../test/makers/fake-tensor.js';
import { ArgumentRangeError, NotLoadedError } from './errors/index.js';
import { type SelectBlocksOptions, selectBlocks } from './select-blocks.js';
import { planSelectBlocks } from './select-blocks.plan.js';

const input = {
  indexQ: fakeTensor([3, 2, 32], 'bf16'),
  indexKeys: fakeTensor([9, 8, 32], 'bf16'),
  pageTable: fakeTensor([2, 6], 'i32'),
  positions: fakeTensor([3], 'i32'),
  sequenceIds: fakeTensor([3], 'i32'),
};
const call = (more: Partial<SelectBlocksOptions> = {}) =>
  selectBlocks(input, { stream: fakeStream(), topkBlocks: 4, ...more });

test('a call that passes its checks asks for the kernels', () => {
  expect(() => call()).toThrow(NotLoadedError);
});

test('numbers are checked before anything is allocated', () => {
  expect(() => call({ localBlocks: 5 })).toThrow(
    'selectBlocks: localBlocks must be a whole number',
  );
  expect(() => call({ scratchBytes: 0 })).toThrow(ArgumentRangeError);
  expect(() => call({ out: fakeTensor([2, 3, 5], 'i32') })).toThrow(
    'out must have shape [2, 3, 4]',
  );
});

test('the plan cuts tokens so that their scores fit, and takes at least one', () => {
  const shape = { tokens: 5, indexHeads: 4, maxPages: 100 };
  expect(planSelectBlocks(shape, 2 * 1600 + 1599)).toEqual({
    ranges: [
      { first: 0, count: 2 },
      { first: 2, count: 2 },
      { first: 4, count: 1 },
    ],
    workspaceBytes: 3200,
  });
  expect(planSelectBlocks(shape, 1).ranges).toHaveLength(5);
  expect(planSelectBlocks(shape, 1).workspaceBytes).toBe(1600);
  expect(planSelectBlocks(shape, 1e9).ranges).toEqual([{ first: 0, count: 5 }]);
});

test('no tokens: one empty range, so that arguments are still checked', () => {
  const plan = planSelectBlocks({ tokens: 0, indexHeads: 4, maxPages: 100 }, 1e9);
  expect(plan).toEqual({ ranges: [{ first: 0, count: 0 }], workspaceBytes: 0 });
});
