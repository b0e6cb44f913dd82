// Argument checks of this package's operations: each names operation and argument.
import type { DType, Stream, Tensor } from '@altstream/cuda-runtime';
import { ArgumentRangeError, DeviceError, DTypeError, ShapeError } from '../errors/index.js';

/** Element types of activations and caches. */
export const activationDTypes: readonly DType[] = ['bf16', 'f32'];

/** Elements of a head that the kernels hold on their stack. */
export const maxHeadDim = 512;

/** What a tensor must be. */
export interface TensorRule {
  readonly dtypes: readonly DType[];
  /** A number per dimension; a name stands for any size and is printed, e.g. `['tokens', 4096]`. */
  readonly shape: readonly (number | string)[];
  /** The first dimension may step further than its rows are wide: a view of a fused projection. */
  readonly rowStrided?: boolean;
}

/** Checks arguments of one call: operation and stream are the same in every message. */
export class ArgumentChecks {
  readonly #operation: string;
  readonly #stream: Stream;

  constructor(operation: string, stream: Stream) {
    this.#operation = operation;
    this.#stream = stream;
  }

  /** @throws DeviceError, DTypeError, ShapeError */
  tensor(argument: string, tensor: Tensor, rule: TensorRule): void {
    if (tensor.device !== this.#stream.device) {
      const detail =
        `is on ${tensor.device.name}, but the stream is on ${this.#stream.device.name}. ` +
        'Use a tensor and a stream of one device and one runtime.';
      throw new DeviceError(this.#operation, argument, detail);
    }
    if (!rule.dtypes.includes(tensor.dtype)) {
      const detail = `must be ${rule.dtypes.join(' or ')}, got ${tensor.dtype}. Convert it first.`;
      throw new DTypeError(this.#operation, argument, detail);
    }
    this.#shape(argument, tensor, rule.shape);
    const isPlaced = rule.rowStrided ? hasDenseRows(tensor) : tensor.isContiguous;
    if (isPlaced) return;
    const wanted = rule.rowStrided ? 'have dense rows that do not overlap' : 'be contiguous';
    const detail =
      `must ${wanted}, got shape [${tensor.shape.join(', ')}] ` +
      `with strides [${tensor.strides.join(', ')}]. Copy it first.`;
    throw new ShapeError(this.#operation, argument, detail);
  }

  /** The size of a dimension. @throws ShapeError if it is zero or missing */
  size(argument: string, tensor: Tensor, dim: number, name: string): number {
    const size = tensor.shape[dim];
    if (size !== undefined && size > 0) return size;
    const shape = tensor.shape.join(', ');
    throw this.shapeError(argument, `must have at least one of ${name}, got shape [${shape}].`);
  }

  /** @throws ArgumentRangeError unless `value` is a whole number in [least, most] */
  whole(argument: string, value: number, least: number, most: number): void {
    if (Number.isInteger(value) && value >= least && value <= most) return;
    throw this.rangeError(argument, `must be a whole number in [${least}, ${most}], got ${value}.`);
  }

  /** @throws ArgumentRangeError unless `value` is finite and above zero */
  positive(argument: string, value: number): void {
    if (Number.isFinite(value) && value > 0) return;
    throw this.rangeError(argument, `must be a finite number above 0, got ${value}.`);
  }

  /** An error about a shape, to throw. */
  shapeError(argument: string, detail: string): ShapeError {
    return new ShapeError(this.#operation, argument, detail);
  }

  /** An error about a number or a choice, to throw. */
  rangeError(argument: string, detail: string): ArgumentRangeError {
    return new ArgumentRangeError(this.#operation, argument, detail);
  }

  #shape(argument: string, tensor: Tensor, shape: readonly (number | string)[]): void {
    const fits =
      tensor.shape.length === shape.length &&
      shape.every((size, dim) => typeof size === 'string' || size === tensor.shape[dim]);
    if (fits) return;
    const detail = `must have shape [${shape.join(', ')}], got [${tensor.shape.join(', ')}].`;
    throw this.shapeError(argument, detail);
  }
}

/** Whether every index of the first dimension is one dense run, and the runs do not overlap. */
function hasDenseRows(tensor: Tensor): boolean {
  if (tensor.elements === 0) return true;
  let width = 1;
  for (let dim = tensor.rank - 1; dim > 0; dim -= 1) {
    const size = tensor.shape[dim] ?? 1;
    if (size !== 1 && tensor.strides[dim] !== width) return false;
    width *= size;
  }
  return tensor.shape[0] === 1 || (tensor.strides[0] ?? 0) >= width;
}
