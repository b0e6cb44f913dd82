import { expect, test } from 'vitest';
import { fakeStream, fakeTensor } from '../test/makers/fake-stream.js';
import { type Mxfp8ScaleMode, quantizeMxfp8 } from './quantize-mxfp8.js';
import { planQuantizeMxfp8 } from './quantize-mxfp8.plan.js';

test('covers all elements', () => {
  const plan = planQuantizeMxfp8({ rows: 3, columns: 6144, x: 'bf16' });
  expect(plan).toMatchObject({ kernel: 'quantize_mxfp8_bf16', config: { grid: [9] } });
});

test('makes data and scales, and passes the choices on', async () => {
  const { stream, launches } = await fakeStream();
  const x = fakeTensor([5, 64], 'f32', { strides: [100, 1] });
  const { data, scales } = quantizeMxfp8({ x }, { stream, scaleMode: 'even', infPolicy: 'nan' });
  expect([data.dtype, data.shape, scales.dtype, scales.shape]).toEqual([
    'e4m3',
    [5, 64],
    'e8m0',
    [5, 2],
  ]);
  expect(launches[0]?.params).toMatchObject({ x_stride: 100, scale_mode: 3, infinity_nan: 1 });
  quantizeMxfp8({ x }, { stream });
  expect(launches[1]?.params).toMatchObject({ scale_mode: 0, infinity_nan: 0 });
});

test('launches nothing for no rows', async () => {
  const { stream, launches } = await fakeStream();
  quantizeMxfp8({ x: fakeTensor([0, 64], 'f32') }, { stream });
  expect(launches).toEqual([]);
});

test('refuses wrong arguments by name', async () => {
  const { stream } = await fakeStream();
  const x = fakeTensor([5, 64], 'f32');
  const refused = (run: () => unknown, argument: string, message: string) => {
    expect(run).toThrow(expect.objectContaining({ operation: 'quantizeMxfp8', argument }));
    expect(run).toThrow(message);
  };
  refused(() => quantizeMxfp8({ x: fakeTensor([5, 65], 'f32') }, { stream }), 'x', 'got 65');
  refused(() => quantizeMxfp8({ x: fakeTensor([5, 64], 'e4m3') }, { stream }), 'x', 'got e4m3');
  const scaleMode = 'round' as Mxfp8ScaleMode;
  refused(() => quantizeMxfp8({ x }, { stream, scaleMode }), 'scaleMode', 'got round');
  const infPolicy = 'keep' as 'nan';
  refused(() => quantizeMxfp8({ x }, { stream, infPolicy }), 'infPolicy', 'got keep');
  const out = { data: fakeTensor([5, 64], 'e4m3'), scales: fakeTensor([5, 64], 'e8m0') };
  refused(() => quantizeMxfp8({ x }, { stream, out }), 'out.scales', '[5, 2]');
});
