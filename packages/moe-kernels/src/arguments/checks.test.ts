import type { Device } from '@altstream/cuda-runtime';
import { describe, expect, it } from 'vitest';
import { fakeTensor } from '../../test/makers/fake-stream.js';
import { DeviceError, DTypeError, MoeKernelsError, ShapeError } from '../errors/index.js';
import { checkTensor } from './checks.js';

const device = { index: 0, name: 'cpu' } as Device;
const other = { index: 1, name: 'cpu' } as Device;
const rule = {
  dtypes: ['f32', 'bf16'],
  shape: [null, 4],
  dimensions: ['tokens', 'hidden'],
} as const;
const check = (tensor: ReturnType<typeof fakeTensor>) =>
  checkTensor('op', 'x', tensor, rule, { device });

describe('checkTensor', () => {
  it('takes any size where the rule has none', () => {
    check(fakeTensor(device, [0, 4], 'f32'));
    check(fakeTensor(device, [9, 4], 'bf16'));
  });

  it.each([
    [fakeTensor(device, [2, 4], 'i32'), 'i32 [2, 4], expected f32 or bf16 [tokens, hidden = 4]'],
    [fakeTensor(device, [2, 5], 'f32'), 'f32 [2, 5], expected f32 or bf16 [tokens, hidden = 4]'],
    [fakeTensor(device, [4], 'f32'), 'f32 [4], expected f32 or bf16 [tokens, hidden = 4]'],
    [
      { ...fakeTensor(device, [2, 4], 'f32'), isContiguous: false, strides: [8, 1] },
      'f32 [2, 4] with strides [8, 1], expected contiguous f32 or bf16 [tokens, hidden = 4]',
    ],
    [
      fakeTensor(other, [2, 4], 'f32'),
      'on device 1 (cpu), expected on device 0 (cpu) as the other arguments',
    ],
  ])('names operation, argument, expected and received %#', (tensor, message) => {
    expect(() => check(tensor as ReturnType<typeof fakeTensor>)).toThrow(`op: \`x\` is ${message}`);
  });

  it('has a class and a code for each fault', () => {
    const i32 = fakeTensor(device, [2, 4], 'i32');
    expect(() => check(fakeTensor(other, [2, 4], 'f32'))).toThrow(DeviceError);
    expect(() => check(i32)).toThrow(DTypeError);
    expect(() => check(fakeTensor(device, [2, 5], 'f32'))).toThrow(ShapeError);
    const facts = { operation: 'op', argument: 'x', expected: 'on a', received: 'on b' };
    const error = new DeviceError(facts);
    expect(error).toMatchObject({ name: 'DeviceError', code: 'MOE_DEVICE', facts });
    expect(MoeKernelsError.isInstance(error)).toBe(true);
  });
});
