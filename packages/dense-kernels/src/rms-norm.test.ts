import { expect, test } from 'vitest';
import { fakeStream, fakeTensor } from '../test/makers/fake-stream.js';
import { rmsNorm } from './rms-norm.js';
import { planRmsNorm } from './rms-norm.plan.js';

test('gives a row as many warps as it feeds', () => {
  const block = (hidden: number) =>
    planRmsNorm({ tokens: 2, heads: 3, hidden, dtype: 'bf16' }).config.block;
  expect([block(1), block(128), block(512), block(6144)]).toEqual([[32], [32], [64], [768]]);
  expect(planRmsNorm({ tokens: 2, heads: 3, hidden: 8, dtype: 'f32' })).toMatchObject({
    kernel: 'rms_norm_f32',
    config: { grid: [6] },
  });
});

test('norms heads of a view of a fused projection, in place', async () => {
  const { stream, launches } = await fakeStream();
  const x = fakeTensor([5, 4, 128], 'bf16', { strides: [1024, 128, 1] });
  const y = rmsNorm({ x, weight: fakeTensor([128], 'f32') }, { stream, out: x });
  expect(y).toBe(x);
  expect(launches[0]?.params).toMatchObject({
    tokens: 5,
    heads: 4,
    hidden: 128,
    x_token_stride: 1024,
    x_head_stride: 128,
    y_token_stride: 1024,
    y_head_stride: 128,
    weight_is_bf16: false,
    weight_offset: 1,
    epsilon: 1e-6,
    residual: null,
    residual_out: null,
  });
});

test('returns the new residual beside the norm, without touching the old one unless asked', async () => {
  const { stream, launches } = await fakeStream();
  const [x, residual] = [fakeTensor([5, 64], 'f32'), fakeTensor([5, 64], 'f32')];
  const weight = fakeTensor([64], 'bf16');
  const fresh = rmsNorm({ x, weight, residual }, { stream, gemma: false });
  expect(fresh.residual).not.toBe(residual);
  expect(launches[0]?.params).toMatchObject({ weight_offset: 0, weight_is_bf16: true });
  const inPlace = rmsNorm({ x, weight, residual }, { stream, residualOut: residual });
  expect(inPlace.residual).toBe(residual);
});

test('launches nothing for no tokens', async () => {
  const { stream, launches } = await fakeStream();
  const x = fakeTensor([0, 64], 'f32');
  rmsNorm({ x, weight: fakeTensor([64], 'f32'), residual: x }, { stream });
  expect(launches).toEqual([]);
});

test('refuses wrong arguments by name', async () => {
  const { stream } = await fakeStream();
  const x = fakeTensor([5, 64], 'f32');
  const weight = fakeTensor([64], 'f32');
  const refused = (run: () => unknown, argument: string, code: string) =>
    expect(run).toThrow(expect.objectContaining({ operation: 'rmsNorm', argument, code }));
  refused(() => rmsNorm({ x: fakeTensor([64], 'f32'), weight }, { stream }), 'x', 'DENSE_SHAPE');
  refused(
    () => rmsNorm({ x: fakeTensor([5, 64], 'f32', { strides: [1, 5] }), weight }, { stream }),
    'x',
    'DENSE_SHAPE',
  );
  refused(
    () => rmsNorm({ x, weight: fakeTensor([5], 'f32') }, { stream }),
    'weight',
    'DENSE_SHAPE',
  );
  refused(
    () => rmsNorm({ x, weight, residual: fakeTensor([5, 64], 'bf16') }, { stream }),
    'residual',
    'DENSE_DTYPE',
  );
  refused(() => rmsNorm({ x, weight }, { stream, epsilon: -1 }), 'epsilon', 'DENSE_RANGE');
  refused(
    () => rmsNorm({ x, weight }, { stream, out: fakeTensor([5, 64], 'f32', { strides: [0, 1] }) }),
    'out',
    'DENSE_SHAPE',
  );
});
