import type { Device, DType, Tensor } from '@altstream/cuda-runtime';
import { ArgumentRangeError, DTypeError, ShapeError } from '../errors/index.js';

/** What `checkTensor` asks of an argument. A named dimension is shown as `name = size`. */
export interface TensorRule {
  readonly dtypes: readonly DType[];
  /** `null` = any size. */
  readonly shape: readonly (number | null)[];
  /** One word a dimension, for the message. */
  readonly dimensions: readonly string[];
}

/** Checks dtype, shape, contiguity and device of a tensor argument. */
export function checkTensor(
  operation: string,
  argument: string,
  tensor: Tensor,
  rule: TensorRule,
  place: { readonly device: Device },
): void {
  const isRight =
    rule.dtypes.includes(tensor.dtype) &&
    fits(tensor.shape, rule.shape) &&
    tensor.isContiguous &&
    tensor.device === place.device;
  if (!isRight) throw tensorError(operation, argument, tensor, rule, place.device);
}

/** Checks an integer in [min, max]; `maxName` explains where the upper bound comes from. */
export function checkInteger(
  operation: string,
  argument: string,
  value: number,
  range: { readonly min: number; readonly max: number; readonly maxName?: string },
): void {
  if (Number.isInteger(value) && value >= range.min && value <= range.max) return;
  const max = range.maxName === undefined ? `${range.max}` : `${range.maxName}=${range.max}`;
  throw new ArgumentRangeError(
    operation,
    `${argument} must be ${Number.isInteger(value) ? '' : 'an integer '}in [${range.min}, ${max}], got ${value}`,
  );
}

/** Checks a finite number. */
export function checkFinite(operation: string, argument: string, value: number): void {
  if (Number.isFinite(value)) return;
  throw new ArgumentRangeError(operation, `${argument} must be a finite number, got ${value}`);
}

/** The dtype of checked activations. */
export function activationDtype(dtype: DType): 'bf16' | 'f32' {
  return dtype === 'bf16' ? 'bf16' : 'f32';
}

/** The first thing that is wrong; texts are only made when something is. */
function tensorError(
  operation: string,
  argument: string,
  tensor: Tensor,
  rule: TensorRule,
  device: Device,
): DTypeError | ShapeError {
  const expected = `${rule.dtypes.join(' or ')} ${describeShape(rule)}`;
  const received = `${tensor.dtype} [${tensor.shape.join(', ')}]`;
  const facts = { operation, argument, expected, received };
  if (!rule.dtypes.includes(tensor.dtype)) return new DTypeError(facts);
  if (!fits(tensor.shape, rule.shape)) return new ShapeError(facts);
  if (!tensor.isContiguous) {
    const strides = `${received} with strides [${tensor.strides.join(', ')}]`;
    return new ShapeError({ ...facts, received: strides, expected: `contiguous ${expected}` });
  }
  const name = ({ index, name }: Device) => `device ${index} (${name})`;
  return new ShapeError({
    ...facts,
    received: `on ${name(tensor.device)}`,
    expected: `on ${name(device)} as the other arguments`,
  });
}

function fits(shape: readonly number[], rule: readonly (number | null)[]): boolean {
  return (
    shape.length === rule.length && rule.every((size, i) => size === null || size === shape[i])
  );
}

function describeShape(rule: TensorRule): string {
  const words = rule.shape.map((size, i) => {
    const name = rule.dimensions[i] ?? '';
    if (size === null) return name;
    return name === '' || name === String(size) ? `${size}` : `${name} = ${size}`;
  });
  return `[${words.join(', ')}]`;
}
