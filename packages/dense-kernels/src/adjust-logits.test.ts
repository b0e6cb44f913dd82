import type { Tensor } from '@altstream/cuda-runtime';
import { expect, test } from 'vitest';
import { fakeStream, fakeTensor, limits } from '../test/makers/fake-stream.js';
import { type AdjustLogitsInput, adjustLogits, restoreLogits } from './adjust-logits.js';
import { planAdjustLogits } from './adjust-logits.plan.js';

function makeInput(rows: number, vocab: number, changed: Record<string, Tensor> = {}) {
  const entries = 3;
  const input: AdjustLogitsInput = {
    logits: fakeTensor([rows, vocab], 'f32'),
    raw: fakeTensor([rows, vocab], 'f32'),
    flags: fakeTensor([rows], 'i32'),
    counts: fakeTensor([rows, vocab], 'i32'),
    repetition: fakeTensor([rows], 'f32'),
    frequency: fakeTensor([rows], 'f32'),
    presence: fakeTensor([rows], 'f32'),
    entryIds: fakeTensor([rows, entries], 'i32'),
    entryValues: fakeTensor([rows, entries], 'f32'),
    entryUntil: fakeTensor([rows, entries], 'i32'),
    positions: fakeTensor([rows], 'i32'),
  };
  return { ...input, ...changed };
}

const h200 = { ...limits, processors: 132 };

test.each([
  { rows: 1, blocks: 98 },
  { rows: 64, blocks: 8 },
  { rows: 1000, blocks: 1 },
])('cuts $rows rows of 200,064 ids over $blocks blocks each', ({ rows, blocks }) => {
  const plan = planAdjustLogits({ rows, vocab: 200_064 }, h200);
  expect(plan.adjust).toEqual({ grid: [blocks, rows], block: [512] });
  expect(plan.restore).toEqual({ grid: [rows], block: [512] });
});

test('takes one launch a row on the CPU', () => {
  const plan = planAdjustLogits({ rows: 6, vocab: 200_064 }, { ...limits, cpuLevel: 'avx2' });
  expect([plan.adjust.grid, plan.restore.grid]).toEqual([[1, 6], [6]]);
});

test('launches with every array, drawn ids for the second kernel only', async () => {
  const { stream, launches } = await fakeStream();
  const input = makeInput(6, 50);
  const ids = fakeTensor([6], 'i32');
  adjustLogits(input, { stream });
  restoreLogits({ ...input, ids }, { stream });
  expect(launches.map(({ kernel }) => kernel)).toEqual(['adjust_logits', 'restore_logits']);
  const sizes = { rows: 6, vocab: 50, entries: 3, logits_stride: 50, logprobs: null };
  expect(launches[0]?.params).toMatchObject({ ...sizes, ids: null });
  expect(launches[1]?.params).toMatchObject({ ...sizes, ids });
});

test('launches nothing for no rows, but still checks', async () => {
  const { stream, launches } = await fakeStream();
  adjustLogits(makeInput(0, 50), { stream });
  expect(launches).toEqual([]);
  expect(() => adjustLogits(makeInput(0, 0), { stream })).toThrow('at least one column');
});

test('refuses wrong arguments by name', async () => {
  const { stream } = await fakeStream();
  const refused = (changed: Record<string, Tensor>, argument: string, code: string) =>
    expect(() => adjustLogits(makeInput(6, 50, changed), { stream })).toThrow(
      expect.objectContaining({ operation: 'adjustLogits', argument, code }),
    );
  refused({ logits: fakeTensor([6, 50], 'bf16') }, 'logits', 'DENSE_DTYPE');
  refused({ raw: fakeTensor([6, 50], 'f32', { strides: [60, 1] }) }, 'raw', 'DENSE_SHAPE');
  refused({ counts: fakeTensor([6, 49], 'i32') }, 'counts', 'DENSE_SHAPE');
  refused({ entryValues: fakeTensor([6, 4], 'f32') }, 'entryValues', 'DENSE_SHAPE');
  refused({ flags: fakeTensor([6], 'u8') }, 'flags', 'DENSE_DTYPE');
  refused({ positions: fakeTensor([6], 'i32', { elsewhere: true }) }, 'positions', 'DENSE_DEVICE');
  const ids = fakeTensor([5], 'i32');
  expect(() => restoreLogits({ ...makeInput(6, 50), ids }, { stream })).toThrow(
    'restoreLogits: ids must have shape [6], got [5].',
  );
});
