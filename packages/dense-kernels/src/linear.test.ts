import { expect, test } from 'vitest';
import { fakeStream, fakeTensor, limits } from '../test/makers/fake-stream.js';
import { linear } from './linear.js';
import { planLinear } from './linear.plan.js';

const x = fakeTensor([5, 96], 'bf16');
const bf16Weight = { data: fakeTensor([40, 96], 'bf16') };
const mxfp8Weight = { data: fakeTensor([40, 96], 'e4m3'), scales: fakeTensor([40, 3], 'e8m0') };

const shape = {
  tokens: 65,
  in: 96,
  out: 33,
  weight: 'mxfp8',
  x: 'bf16',
  y: 'f32',
  isAligned: true,
} as const;
const cpu = { ...limits, cpuLevel: 'avx2' };

test('names the kernel after its data types and covers all outputs and tokens', () => {
  const plan = planLinear(shape, cpu);
  expect(plan.kernel).toBe('linear_mxfp8_bf16_f32');
  expect(plan.config).toEqual({ grid: [3, 2], block: [256] });
  expect(plan.workspaceBytes).toBe(0);
});

test('plans room for packed activations where AMX multiplies them', () => {
  const amx = { ...limits, cpuLevel: 'amx' };
  expect(planLinear(shape, amx).workspaceBytes).toBe(65 * 128 * 2);
  expect(planLinear({ ...shape, x: 'f32' }, amx).workspaceBytes).toBe(3 * 65 * 128 * 2);
  const bf16InF32 = { ...shape, weight: 'bf16', x: 'f32' } as const;
  expect(planLinear(bf16InF32, amx).workspaceBytes).toBe(0);
  expect(planLinear({ ...shape, weight: 'f32' }, amx).workspaceBytes).toBe(0);
});

test('gives the output the type of x unless told otherwise', async () => {
  const { stream, launches } = await fakeStream();
  expect(linear({ x, weight: mxfp8Weight }, { stream }).dtype).toBe('bf16');
  expect(linear({ x, weight: mxfp8Weight, outDtype: 'f32' }, { stream }).dtype).toBe('f32');
  expect(launches.map(({ kernel }) => kernel)).toEqual([
    'linear_mxfp8_bf16_bf16_stream_8',
    'linear_mxfp8_bf16_f32_stream_8',
  ]);
});

test('passes the distance of rows of slices', async () => {
  const { stream, launches } = await fakeStream();
  const slice = fakeTensor([5, 96], 'f32', { strides: [300, 1] });
  const out = fakeTensor([5, 40], 'f32', { strides: [64, 1] });
  expect(linear({ x: slice, weight: bf16Weight }, { stream, out })).toBe(out);
  expect(launches[0]?.params).toMatchObject({
    x_stride: 300,
    y_stride: 64,
    tokens: 5,
    in: 96,
    out: 40,
    scales: null,
  });
});

test('launches nothing for no tokens or no outputs, yet checks', async () => {
  const { stream, launches } = await fakeStream();
  const none = fakeTensor([0, 96], 'bf16');
  expect(linear({ x: none, weight: mxfp8Weight }, { stream }).shape).toEqual([0, 40]);
  expect(linear({ x, weight: { data: fakeTensor([0, 96], 'f32') } }, { stream }).shape).toEqual([
    5, 0,
  ]);
  expect(launches).toEqual([]);
  expect(() => linear({ x: none, weight: { data: mxfp8Weight.data } }, { stream })).toThrow(
    'weight.scales is required for an e4m3 weight: e8m0 [40, 3]',
  );
});

test('refuses wrong arguments by name, with what was expected and received', async () => {
  const { stream } = await fakeStream();
  const refused = (input: Parameters<typeof linear>[0], argument: string, message: string) => {
    expect(() => linear(input, { stream })).toThrow(
      expect.objectContaining({ operation: 'linear', argument }),
    );
    expect(() => linear(input, { stream })).toThrow(message);
  };
  const weight = bf16Weight;
  refused({ x: fakeTensor([96], 'bf16'), weight }, 'x', 'shape [tokens, in], got [96]');
  refused({ x: fakeTensor([5, 96], 'i32'), weight }, 'x', 'must be f32 or bf16, got i32');
  const columns = fakeTensor([5, 96], 'f32', { strides: [1, 5] });
  refused({ x: columns, weight }, 'x', 'must have dense rows');
  refused({ x: fakeTensor([5, 96], 'f32', { elsewhere: true }), weight }, 'x', 'fake 1');
  const narrow = { data: fakeTensor([40, 95], 'bf16') };
  refused({ x, weight: narrow }, 'weight.data', 'shape [out, 96], got [40, 95]');
  const spread = { data: fakeTensor([40, 96], 'bf16', { strides: [100, 1] }) };
  refused({ x, weight: spread }, 'weight.data', 'must be contiguous');
  const { data, scales } = mxfp8Weight;
  refused({ x, weight: { data: bf16Weight.data, scales } }, 'weight.scales', 'Leave it out');
  const short = fakeTensor([40, 2], 'e8m0');
  refused({ x, weight: { data, scales: short } }, 'weight.scales', 'shape [40, 3], got [40, 2]');
  const bytes = fakeTensor([40, 3], 'u8');
  refused({ x, weight: { data, scales: bytes } }, 'weight.scales', 'must be e8m0, got u8');
  const odd = { data: fakeTensor([40, 40], 'e4m3'), scales: fakeTensor([40, 1], 'e8m0') };
  refused({ x: fakeTensor([5, 40], 'f32'), weight: odd }, 'weight.data', 'multiple of 32');
  const half = { x, weight, outDtype: 'f16' as 'f32' };
  refused(half, 'outDtype', 'must be f32 or bf16, got f16');
  expect(() => linear({ x, weight }, { stream, out: fakeTensor([5, 39], 'bf16') })).toThrow(
    'linear: out must have shape [5, 40], got [5, 39].',
  );
});

test('asks for the kernels to be loaded', async () => {
  const { stream } = await fakeStream({ loaded: false });
  expect(() => linear({ x, weight: bf16Weight }, { stream })).toThrow('await loadDenseKernels');
});
