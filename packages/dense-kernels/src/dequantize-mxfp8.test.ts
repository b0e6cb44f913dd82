import { expect, test } from 'vitest';
import { fakeStream, fakeTensor } from '../test/makers/fake-stream.js';
import { dequantizeMxfp8 } from './dequantize-mxfp8.js';
import { planDequantizeMxfp8 } from './dequantize-mxfp8.plan.js';

const data = fakeTensor([5, 64], 'e4m3');
const scales = fakeTensor([5, 2], 'e8m0');

test('covers all elements', () => {
  const plan = planDequantizeMxfp8({ rows: 5, columns: 4096, y: 'f32' });
  expect(plan).toMatchObject({ kernel: 'dequantize_mxfp8_f32', config: { grid: [5] } });
});

test('widens to bf16 unless told otherwise', async () => {
  const { stream, launches } = await fakeStream();
  expect(dequantizeMxfp8({ data, scales }, { stream }).dtype).toBe('bf16');
  expect(dequantizeMxfp8({ data, scales }, { stream, outDtype: 'f32' }).dtype).toBe('f32');
  expect(launches.map(({ kernel }) => kernel)).toEqual([
    'dequantize_mxfp8_bf16',
    'dequantize_mxfp8_f32',
  ]);
});

test('refuses wrong arguments by name', async () => {
  const { stream } = await fakeStream();
  const refused = (run: () => unknown, argument: string, message: string) => {
    expect(run).toThrow(expect.objectContaining({ operation: 'dequantizeMxfp8', argument }));
    expect(run).toThrow(message);
  };
  const bytes = fakeTensor([5, 64], 'u8');
  refused(() => dequantizeMxfp8({ data: bytes, scales }, { stream }), 'data', 'got u8');
  const odd = fakeTensor([5, 65], 'e4m3');
  refused(() => dequantizeMxfp8({ data: odd, scales }, { stream }), 'data', 'got 65');
  const swapped = fakeTensor([2, 5], 'e8m0');
  refused(() => dequantizeMxfp8({ data, scales: swapped }, { stream }), 'scales', '[5, 2]');
  const outDtype = 'f16' as 'f32';
  refused(() => dequantizeMxfp8({ data, scales }, { stream, outDtype }), 'outDtype', 'got f16');
});
