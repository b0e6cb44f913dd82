// Argument checks shared by the operations of this package: each names operation and argument.
import type { DType, Stream, Tensor } from '@altstream/cuda-runtime';
import { DeviceError, DTypeError, ShapeError } from './errors/index.js';

/** What an argument must be. Left out: not checked. */
export interface TensorRule {
  readonly dtypes?: readonly DType[];
  /** A number per dimension; a name stands for any size and is printed, e.g. `['tokens', 4096]`. */
  readonly shape?: readonly (number | string)[];
  /** `true`: dense row-major. `'rows'`: rank 2 whose rows are dense but may be apart. */
  readonly contiguous?: boolean | 'rows';
}

/**
 * Checks device, dtype, shape and strides of one tensor argument.
 *
 * @throws DeviceError, DTypeError, ShapeError
 */
export function checkTensor(
  operation: string,
  argument: string,
  tensor: Tensor,
  stream: Stream,
  rule: TensorRule,
): void {
  checkDevice(operation, argument, tensor, stream);
  if (rule.dtypes && !rule.dtypes.includes(tensor.dtype)) {
    throw new DTypeError(
      operation,
      argument,
      `must be ${rule.dtypes.join(' or ')}, got ${tensor.dtype}. Convert it first.`,
    );
  }
  if (rule.shape) checkShape(operation, argument, tensor, rule.shape);
  if (rule.contiguous === 'rows') checkRows(operation, argument, tensor);
  if (rule.contiguous === true && !tensor.isContiguous) {
    throw new ShapeError(
      operation,
      argument,
      `must be contiguous, got shape [${tensor.shape}] with strides [${tensor.strides}]. Copy it first.`,
    );
  }
}

function checkDevice(operation: string, argument: string, tensor: Tensor, stream: Stream): void {
  if (tensor.device === stream.device) return;
  throw new DeviceError(
    operation,
    argument,
    `is on ${tensor.device.name}, but the stream is on ${stream.device.name}. ` +
      'Use a tensor and a stream of one device and one runtime.',
  );
}

function checkShape(
  operation: string,
  argument: string,
  tensor: Tensor,
  shape: readonly (number | string)[],
): void {
  const fits =
    tensor.shape.length === shape.length &&
    shape.every((size, i) => typeof size === 'string' || size === tensor.shape[i]);
  if (fits) return;
  throw new ShapeError(
    operation,
    argument,
    `must have shape [${shape.join(', ')}], got [${tensor.shape.join(', ')}].`,
  );
}

function checkRows(operation: string, argument: string, tensor: Tensor): void {
  const [rows = 0, columns = 0] = tensor.shape;
  const [rowStride = 0, stride = 0] = tensor.strides;
  const dense = columns <= 1 || stride === 1;
  if (tensor.rank === 2 && dense && (rows <= 1 || rowStride >= columns)) return;
  throw new ShapeError(
    operation,
    argument,
    `must have dense rows (strides [>= ${columns}, 1]), got shape [${tensor.shape}] ` +
      `with strides [${tensor.strides}]. Copy it first.`,
  );
}
