import { expect, test } from 'vitest';
import { fakeStream, fakeTensor, limits } from '../test/makers/fake-stream.js';
import { add } from './add.js';
import { planAdd } from './add.plan.js';

test('takes no more blocks than the device holds at once', () => {
  expect(planAdd({ count: 1, dtype: 'f32' }, limits).config.grid).toEqual([1]);
  expect(planAdd({ count: 2049, dtype: 'bf16' }, limits)).toMatchObject({
    kernel: 'add_bf16',
    config: { grid: [2] },
  });
  expect(planAdd({ count: 1e9, dtype: 'f32' }, limits).config.grid).toEqual([32]);
});

test('adds into the tensor that it is given, also one of the terms', async () => {
  const { stream, launches } = await fakeStream();
  const [a, b] = [fakeTensor([2, 3], 'bf16'), fakeTensor([2, 3], 'bf16')];
  expect(add({ a, b }, { stream, out: a })).toBe(a);
  expect(launches[0]).toMatchObject({ kernel: 'add_bf16', params: { a, b, y: a, count: 6 } });
});

test('launches nothing for no elements, but still checks', async () => {
  const { stream, launches } = await fakeStream();
  const empty = fakeTensor([0, 3], 'f32');
  expect(add({ a: empty, b: empty }, { stream }).shape).toEqual([0, 3]);
  expect(launches).toEqual([]);
  expect(() => add({ a: empty, b: fakeTensor([0, 4], 'f32') }, { stream })).toThrow(
    'add: b must have shape [0, 3], got [0, 4].',
  );
});

test('refuses mixed types, views with gaps, other devices and unloaded kernels by name', async () => {
  const { stream } = await fakeStream();
  const a = fakeTensor([2, 3], 'f32');
  const refuse = (b: ReturnType<typeof fakeTensor>, code: string) =>
    expect(() => add({ a, b }, { stream })).toThrow(
      expect.objectContaining({ code, argument: 'b' }),
    );
  refuse(fakeTensor([2, 3], 'bf16'), 'DENSE_DTYPE');
  refuse(fakeTensor([2, 3], 'f32', { strides: [8, 1] }), 'DENSE_SHAPE');
  refuse(fakeTensor([2, 3], 'f32', { elsewhere: true }), 'DENSE_DEVICE');
  const unloaded = await fakeStream({ loaded: false });
  expect(() => add({ a, b: a }, { stream: unloaded.stream })).toThrow('loadDenseKernels');
});
