import { expect, test } from 'vitest';
import { fakeStream, fakeTensor } from '../test/makers/fake-stream.js';
import { swigluOai } from './swiglu-oai.js';
import { planSwigluOai } from './swiglu-oai.plan.js';

test('cuts rows into pieces of 1024 columns', () => {
  const grid = (tokens: number, intermediate: number) =>
    planSwigluOai({ tokens, intermediate, dtype: 'bf16' }).config.grid;
  expect([grid(1, 1), grid(3, 1024), grid(3, 1025)]).toEqual([[1], [3], [6]]);
});

test('splits one tensor into gate, then up', async () => {
  const { stream, launches } = await fakeStream();
  const y = swigluOai({ gateUp: fakeTensor([3, 12], 'bf16') }, { stream });
  expect([y.shape, y.dtype]).toEqual([[3, 6], 'bf16']);
  expect(launches[0]).toMatchObject({
    kernel: 'swiglu_oai_bf16',
    params: { gate_stride: 12, up_stride: 12, intermediate: 6, alpha: 1.702, beta: 1, limit: 7 },
  });
});

test('takes gate and up apart, each with its row stride', async () => {
  const { stream, launches } = await fakeStream();
  const gate = fakeTensor([3, 6], 'f32', { strides: [20, 1] });
  const constants = { alpha: 1, beta: 0, limit: Number.POSITIVE_INFINITY };
  swigluOai({ gate, up: fakeTensor([3, 6], 'f32') }, { stream, ...constants });
  expect(launches[0]?.params).toMatchObject({ gate_stride: 20, up_stride: 6, ...constants });
});

test('launches nothing for no tokens', async () => {
  const { stream, launches } = await fakeStream();
  expect(swigluOai({ gateUp: fakeTensor([0, 12], 'f32') }, { stream }).shape).toEqual([0, 6]);
  expect(launches).toEqual([]);
});

test('refuses wrong arguments by name', async () => {
  const { stream } = await fakeStream();
  const gateUp = fakeTensor([3, 12], 'f32');
  const refused = (run: () => unknown, argument: string, code: string) =>
    expect(run).toThrow(expect.objectContaining({ operation: 'swigluOai', argument, code }));
  refused(
    () => swigluOai({ gateUp: fakeTensor([3, 7], 'f32') }, { stream }),
    'gateUp',
    'DENSE_SHAPE',
  );
  refused(
    () => swigluOai({ gate: gateUp, up: fakeTensor([3, 12], 'bf16') }, { stream }),
    'up',
    'DENSE_DTYPE',
  );
  refused(() => swigluOai({ gateUp }, { stream, limit: 0 }), 'limit', 'DENSE_RANGE');
  refused(() => swigluOai({ gateUp }, { stream, limit: Number.NaN }), 'limit', 'DENSE_RANGE');
  refused(() => swigluOai({ gateUp }, { stream, alpha: Number.NaN }), 'alpha', 'DENSE_RANGE');
});
