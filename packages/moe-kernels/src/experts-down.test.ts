import type { DType } from '@altstream/cuda-runtime';
import { describe, expect, it } from 'vitest';
import { fakeStream } from '../test/makers/fake-stream.js';
import { expertsDown } from './experts-down.js';

/** 3 tokens, k = 2, 4 local experts, hidden 64, intermediate 96 unless changed. */
async function run({
  tokens = 3,
  y = [6, 96] as readonly number[],
  w2 = [4, 64, 96] as readonly number[],
  weights = 'e4m3' as DType,
  scales = [4, 64, 3] as readonly number[],
  settled = {} as { readonly isSettled?: boolean },
} = {}) {
  const { stream, launches, tensor } = await fakeStream();
  const permutation = {
    offsets: tensor([5], 'i32'),
    rows: tensor([tokens * 2], 'i32'),
    slots: tensor([tokens, 2], 'i32'),
  };
  const weight = { data: tensor(w2, weights), scales: tensor(scales, 'e8m0') };
  const input = { y: tensor(y, 'f32'), w2: weight, permutation };
  return { h2: expertsDown(input, { stream, ...settled }), launches };
}

describe('expertsDown', () => {
  it('reads its maps early only where it is told that they are settled', async () => {
    const settledOf = async (settled: object) =>
      (await run({ settled })).launches[0]?.params['settled'];
    expect(await settledOf({})).toBe(0);
    expect(await settledOf({ isSettled: false })).toBe(0);
    expect(await settledOf({ isSettled: true })).toBe(1);
  });

  it('launches once over the local experts', async () => {
    const { h2, launches } = await run();
    expect([h2.shape, h2.dtype]).toEqual([[6, 64], 'f32']);
    expect(launches).toMatchObject([
      {
        kernel: 'experts_down_mxfp8_f32',
        config: { grid: [4], block: [256] },
        params: { experts: 4, hidden: 64, intermediate: 96 },
      },
    ]);
  });

  it('gives an empty h2 for no tokens and launches nothing', async () => {
    const { h2, launches } = await run({ tokens: 0, y: [0, 96] });
    expect(h2.shape).toEqual([0, 64]);
    expect(launches).toEqual([]);
  });

  it.each([
    [
      { y: [5, 96] },
      'expertsDown: `y` is f32 [5, 96], expected f32 or bf16 [tokens · k = 6, intermediate]',
    ],
    [{ w2: [4, 64, 64] }, 'expertsDown: `w2.data` is e4m3 [4, 64, 64]'],
    [{ y: [6, 40], w2: [4, 64, 40] }, 'intermediate must be a multiple of the MX block 32, got 40'],
    [
      { scales: [4, 64, 2] },
      '`w2.scales` is e8m0 [4, 64, 2], expected e8m0 [localExperts = 4, hidden = 64, intermediate / 32 = 3]',
    ],
    [{ weights: 'f16' as DType }, '`w2.data` is f16 [4, 64, 96], expected e4m3 or bf16 or f32'],
  ])('refuses %o', async (changes, message) => {
    await expect(run(changes)).rejects.toThrow(message);
  });
});
