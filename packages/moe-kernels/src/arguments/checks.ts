import {
  type Device,
  type DType,
  type Tensor,
  type TensorFault,
  tensorFault,
} from '@altstream/cuda-runtime';
import { ArgumentRangeError, DeviceError, DTypeError, ShapeError } from '../errors/index.js';

/** What `checkTensor` asks of an argument. A named dimension is shown as `name = size`. */
export interface TensorRule {
  readonly dtypes: readonly DType[];
  /** `null` = any size. */
  readonly shape: readonly (number | null)[];
  /** One word a dimension, for the message. */
  readonly dimensions: readonly string[];
}

/** Checks device, dtype, shape and contiguity. @throws DeviceError, DTypeError, ShapeError */
export function checkTensor(
  operation: string,
  argument: string,
  tensor: Tensor,
  rule: TensorRule,
  place: { readonly device: Device },
): void {
  const fault = tensorFault(tensor, rule, place.device);
  if (fault) throw tensorError(fault, { operation, argument }, tensor, rule, place.device);
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

/** What to throw for a fault; texts are only made when there is one. */
function tensorError(
  fault: TensorFault,
  place: { readonly operation: string; readonly argument: string },
  tensor: Tensor,
  rule: TensorRule,
  device: Device,
): DeviceError | DTypeError | ShapeError {
  const expected = `${rule.dtypes.join(' or ')} ${describeShape(rule)}`;
  const received = `${tensor.dtype} [${tensor.shape.join(', ')}]`;
  switch (fault) {
    case 'device':
      return new DeviceError({
        ...place,
        received: `on ${describeDevice(tensor.device)}`,
        expected: `on ${describeDevice(device)} as the other arguments`,
      });
    case 'dtype':
      return new DTypeError({ ...place, expected, received });
    case 'shape':
      return new ShapeError({ ...place, expected, received });
    case 'layout': {
      const strides = `${received} with strides [${tensor.strides.join(', ')}]`;
      return new ShapeError({ ...place, received: strides, expected: `contiguous ${expected}` });
    }
  }
}

function describeDevice({ index, name }: Device): string {
  return `device ${index} (${name})`;
}

function describeShape(rule: TensorRule): string {
  const words = rule.shape.map((size, i) => {
    const name = rule.dimensions[i] ?? '';
    if (size === null) return name;
    return name === '' || name === String(size) ? `${size}` : `${name} = ${size}`;
  });
  return `[${words.join(', ')}]`;
}
