import { expect, test } from 'vitest';
import { fakeStream, fakeTensor } from '../test/makers/fake-tensor.js';
import { type BlockTopkOptions, blockTopk } from './block-topk.js';
import { planBlockTopk } from './block-topk.plan.js';
import { ArgumentRangeError, NotLoadedError, ShapeError } from './errors/index.js';

const stream = fakeStream();
const scores = fakeTensor([3, 2, 6], 'f32');
const positions = fakeTensor([3], 'i32');
const call = (more: Partial<BlockTopkOptions> = {}) =>
  blockTopk({ scores, positions }, { stream, pageTokens: 8, topkBlocks: 4, ...more });

test('a call that passes its checks asks for the kernels', () => {
  expect(() => call()).toThrow(NotLoadedError);
  expect(() => call({ initBlocks: 2, localBlocks: 2 })).toThrow(NotLoadedError);
});

test('no tokens: an empty selection, nothing launched', () => {
  const none = { scores: fakeTensor([0, 2, 6], 'f32'), positions: fakeTensor([0], 'i32') };
  expect(blockTopk(none, { stream, pageTokens: 8, topkBlocks: 4 }).shape).toEqual([2, 0, 4]);
});

test('forced blocks must fit', () => {
  expect(() => call({ initBlocks: 3, localBlocks: 2 })).toThrow(
    'forces 3 first and 2 last blocks, more than the 4 that are chosen',
  );
});

test.each([
  { topkBlocks: 0 },
  { topkBlocks: 1025 },
  { topkBlocks: 2.5 },
  { initBlocks: -1 },
  { localBlocks: 0 },
  { pageTokens: 0 },
])('%o is refused', (more) => {
  expect(() => call(more)).toThrow(ArgumentRangeError);
});

test('scores have a row per token of the range', () => {
  expect(() => call({ range: { first: 0, count: 2 } })).toThrow(
    'scores must have shape [2, indexHeads, maxPages], got [3, 2, 6]',
  );
  expect(() => call({ out: fakeTensor([3, 2, 4], 'i32') })).toThrow(ShapeError);
});

test('the plan has a block per token and index head', () => {
  expect(planBlockTopk({ tokens: 9, indexHeads: 4 }).config).toEqual({
    grid: [9, 4],
    block: [128],
  });
});
