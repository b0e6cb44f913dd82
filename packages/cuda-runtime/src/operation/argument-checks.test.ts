import { expect, test } from 'vitest';
import type { Device, DeviceBuffer, Stream, Tensor } from '../contract.js';
import { ArgumentError } from '../errors/argument-error.js';
import { Tensor as Tensors } from '../memory/tensor.js';
import { ArgumentChecks } from './argument-checks.js';
import { OperationError } from './operation-error.js';
import type { TensorRule } from './tensor-fault.js';

const marker = Symbol('example');

class ExampleError extends OperationError {
  constructor(operation: string, argument: string, detail: string) {
    super({ code: new.target.name, operation, argument, detail }, marker);
  }
}
class DeviceError extends ExampleError {}
class DTypeError extends ExampleError {}
class ShapeError extends ExampleError {}
class ArgumentRangeError extends ExampleError {}

const device = { name: 'fake 0' } as Device;
const errors = { DeviceError, DTypeError, ShapeError, ArgumentRangeError };
const checks = new ArgumentChecks({ operation: 'op', stream: { device } as Stream, errors });

function tensor(shape: number[], strides?: number[], more: Partial<Tensor> = {}): Tensor {
  const elements = shape.reduce((product, size) => product * size, 1);
  const isContiguous = strides === undefined;
  const dense = shape.map((_, dim) => shape.slice(dim + 1).reduce((a, b) => a * b, 1));
  const layout = { shape, strides: strides ?? dense, rank: shape.length, elements, isContiguous };
  return { device, dtype: 'f32', ...layout, ...more } as Tensor;
}

const matrix: TensorRule = { dtypes: ['bf16', 'f32'], shape: ['tokens', 4] };
const rows: TensorRule = { ...matrix, layout: 'rows' };

test('takes what fits: named sizes, any shape, rows apart, one row, no rows, any layout', () => {
  checks.tensor('x', tensor([0, 4]), matrix);
  checks.tensor('x', tensor([9, 9, 9]), { dtypes: ['f32'] });
  checks.tensor('x', tensor([3, 4], [10, 1]), rows);
  checks.tensor('x', tensor([1, 4], [0, 1]), rows);
  checks.tensor('x', tensor([0, 4], [1, 5]), rows);
  checks.tensor('x', tensor([3, 2, 4], [20, 4, 1]), { dtypes: ['f32'], layout: 'rows' });
  checks.tensor('x', tensor([3, 4], [1, 3]), { ...matrix, layout: 'any' });
});

const elsewhere = { device: { name: 'fake 1' } as Device };

test.each<[string, Tensor, TensorRule, new (...facts: never[]) => Error, string]>([
  [
    'another device',
    tensor([3, 4], undefined, elsewhere),
    matrix,
    DeviceError,
    'op: x is on fake 1, but the stream is on fake 0. ' +
      'Use a tensor and a stream of one device and one runtime.',
  ],
  [
    'another dtype',
    tensor([3, 4], undefined, { dtype: 'i32' }),
    matrix,
    DTypeError,
    'op: x must be bf16 or f32, got i32. Convert it first.',
  ],
  [
    'another size',
    tensor([3, 5]),
    matrix,
    ShapeError,
    'op: x must have shape [tokens, 4], got [3, 5].',
  ],
  ['another rank', tensor([4]), matrix, ShapeError, 'op: x must have shape [tokens, 4], got [4].'],
  [
    'gaps',
    tensor([3, 4], [8, 1]),
    matrix,
    ShapeError,
    'op: x must be contiguous, got shape [3, 4] with strides [8, 1]. Copy it first.',
  ],
  [
    'rows that overlap',
    tensor([3, 4], [3, 1]),
    rows,
    ShapeError,
    'op: x must have dense rows that do not overlap, got shape [3, 4] with strides [3, 1]. ' +
      'Copy it first.',
  ],
  ['columns apart', tensor([3, 4], [8, 2]), rows, ShapeError, 'x must have dense rows'],
])('names operation, argument, expected and received for %s', (_, given, rule, Class, message) => {
  const check = () => checks.tensor('x', given, rule);
  expect(check).toThrow(Class);
  expect(check).toThrow(message);
});

test.each<[string, (tensor: Tensor) => void]>([
  ['shape', (given) => Object.assign(given.shape, [1000])],
  ['strides', (given) => Object.assign(given.strides, [1e9])],
])('a tensor whose %s were written to is refused', (_, change) => {
  const buffer = { bytes: 64, device } as DeviceBuffer;
  for (const strides of [
    [4, 1],
    [8, 1],
  ]) {
    const given = Tensors.of(buffer, [2, 4], 'f32', { strides });
    checks.tensor('x', given, rows);
    change(given);
    expect(() => checks.tensor('x', given, rows)).toThrow(ArgumentError);
    expect(() => checks.tensor('x', given, rows)).toThrow(/was changed after it was made/);
  }
});

test('checks sizes and numbers', () => {
  expect(checks.size('x', tensor([3, 4]), 1, 'heads')).toBe(4);
  expect(() => checks.size('x', tensor([3, 0]), 1, 'heads')).toThrow(
    new ShapeError('op', 'x', 'must have at least one of heads, got shape [3, 0].'),
  );
  checks.whole('k', 4, 1, 4);
  for (const k of [0, 5, 1.5, Number.NaN]) {
    expect(() => checks.whole('k', k, 1, 4)).toThrow(ArgumentRangeError);
  }
  checks.positive('scale', 0.5);
  for (const scale of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(() => checks.positive('scale', scale)).toThrow(ArgumentRangeError);
  }
});

test('the errors carry code, operation, argument and the marker of their package', () => {
  const error = checks.rangeError('scoreType', 'must be max.');
  expect(error).toMatchObject({ code: 'ArgumentRangeError', operation: 'op' });
  expect(error).toMatchObject({ argument: 'scoreType', message: 'op: scoreType must be max.' });
  expect(error).toBeInstanceOf(ArgumentRangeError);
  expect(marker in error).toBe(true);
  expect(new ShapeError('op', '', 'failed.').message).toBe('op: failed.');
});

test.each([undefined, null, 5, 'x', {}])('%s is no tensor', (value) => {
  const check = () => checks.tensor('x', value as never, matrix);
  expect(check).toThrow(DTypeError);
  expect(check).toThrow('op: x must be a tensor, got ');
});

test('tells two runtimes apart that use the same device', () => {
  const name = 'cpu';
  const stream = { device: { name, runtime: { backend: 'cpu' } } } as unknown as Stream;
  const there = { name, runtime: { backend: 'cpu' } } as unknown as Device;
  const call = new ArgumentChecks({ operation: 'op', stream, errors });
  const check = () => call.tensor('x', tensor([3, 4], undefined, { device: there }), matrix);
  expect(check).toThrow(DeviceError);
  expect(check).toThrow('op: x belongs to another runtime than the stream: it is on cpu of that');
});
