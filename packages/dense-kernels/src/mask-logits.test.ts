import { expect, test } from 'vitest';
import { fakeStream, fakeTensor, limits } from '../test/makers/fake-stream.js';
import { maskLogits } from './mask-logits.js';
import { planMaskLogits } from './mask-logits.plan.js';

test('takes a row of blocks a row, no more of them than the device holds at once', () => {
  expect(planMaskLogits({ count: 1, vocab: 100 }, limits).config.grid).toEqual([1, 1]);
  expect(planMaskLogits({ count: 1, vocab: 200_064 }, limits).config.grid).toEqual([32, 1]);
  expect(planMaskLogits({ count: 10, vocab: 200_064 }, limits).config.grid).toEqual([3, 10]);
  expect(planMaskLogits({ count: 1e6, vocab: 64 }, limits).config.grid).toEqual([1, 65_535]);
});

test('gathers rows that lie apart', async () => {
  const { stream, launches } = await fakeStream();
  const logits = fakeTensor([4, 40], 'f32', { strides: [64, 1] });
  const sources = fakeTensor([2], 'i32');
  const mask = fakeTensor([2, 2], 'i32');
  expect(maskLogits({ logits, sources, mask }, { stream }).shape).toEqual([2, 40]);
  expect(launches[0]).toMatchObject({
    kernel: 'mask_logits_f32',
    params: { logits, sources, mask, logits_stride: 64, count: 2, rows: 4, vocab: 40, words: 2 },
  });
});

test('launches nothing for no rows, but still checks', async () => {
  const { stream, launches } = await fakeStream();
  const logits = fakeTensor([4, 40], 'f32');
  const none = { logits, sources: fakeTensor([0], 'i32') };
  const mask = fakeTensor([0, 2], 'i32');
  expect(maskLogits({ ...none, mask }, { stream }).shape).toEqual([0, 40]);
  expect(launches).toEqual([]);
  expect(() => maskLogits({ ...none, mask: fakeTensor([0, 1], 'i32') }, { stream })).toThrow(
    'maskLogits: mask must have shape [0, 2], got [0, 1].',
  );
});

test('refuses wrong types, other devices and unloaded kernels by name', async () => {
  const { stream } = await fakeStream();
  const input = {
    logits: fakeTensor([4, 40], 'f32'),
    sources: fakeTensor([2], 'i32'),
    mask: fakeTensor([2, 2], 'i32'),
  };
  const refuse = (wrong: Partial<typeof input>, code: string) =>
    expect(() => maskLogits({ ...input, ...wrong }, { stream })).toThrow(
      expect.objectContaining({ code, argument: Object.keys(wrong)[0] }),
    );
  refuse({ logits: fakeTensor([4, 40], 'bf16') }, 'DENSE_DTYPE');
  refuse({ mask: fakeTensor([2, 2], 'u8') }, 'DENSE_DTYPE');
  refuse({ mask: fakeTensor([2, 2], 'i32', { elsewhere: true }) }, 'DENSE_DEVICE');
  refuse({ sources: fakeTensor([2, 1], 'i32') }, 'DENSE_SHAPE');
  const unloaded = await fakeStream({ loaded: false });
  expect(() => maskLogits(input, { stream: unloaded.stream })).toThrow('loadDenseKernels');
});
