import type { Stream, Tensor } from '../contract.js';
import { describeList, describeValue } from '../errors/describe-value.js';
import { type TensorFault, type TensorRule, tensorFault } from './tensor-fault.js';

/** An error class of a kernel package; `detail` follows operation and argument in the message. */
export type ArgumentErrorClass = new (operation: string, argument: string, detail: string) => Error;

/** The classes that a kernel package throws for its arguments. */
export interface ArgumentErrors {
  readonly DeviceError: ArgumentErrorClass;
  readonly DTypeError: ArgumentErrorClass;
  readonly ShapeError: ArgumentErrorClass;
  readonly ArgumentRangeError: ArgumentErrorClass;
}

/** Whose arguments are checked. */
export interface CheckedCall {
  /** The public function to name in errors. */
  readonly operation: string;
  /** Tensors must be on its device. */
  readonly stream: Stream;
  /** Of the package that the operation belongs to. */
  readonly errors: ArgumentErrors;
}

/** Checks the arguments of one call: operation, stream and error classes are the same in all. */
export class ArgumentChecks {
  readonly #call: CheckedCall;

  constructor(call: CheckedCall) {
    this.#call = call;
  }

  /** Checks device, dtype, shape and layout. @throws DeviceError, DTypeError, ShapeError */
  tensor(argument: string, tensor: Tensor, rule: TensorRule): void {
    const { operation, stream, errors } = this.#call;
    if (!tensor?.shape) {
      const detail = `must be a tensor, got ${describeValue(tensor)}.`;
      throw new errors.DTypeError(operation, argument, detail);
    }
    const fault = tensorFault(tensor, rule, stream.device);
    if (!fault) return;
    const detail = describeFault(fault, tensor, rule, stream);
    if (fault === 'device') throw new errors.DeviceError(operation, argument, detail);
    if (fault === 'dtype') throw new errors.DTypeError(operation, argument, detail);
    throw new errors.ShapeError(operation, argument, detail);
  }

  /** The size of a dimension. @throws ShapeError if it is zero or missing */
  size(argument: string, tensor: Tensor, dim: number, name: string): number {
    const size = tensor.shape[dim];
    if (size !== undefined && size > 0) return size;
    const shape = describeList(tensor.shape);
    throw this.shapeError(argument, `must have at least one of ${name}, got shape ${shape}.`);
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
  shapeError(argument: string, detail: string): Error {
    return new this.#call.errors.ShapeError(this.#call.operation, argument, detail);
  }

  /** An error about a number or a choice, to throw. */
  rangeError(argument: string, detail: string): Error {
    return new this.#call.errors.ArgumentRangeError(this.#call.operation, argument, detail);
  }
}

function describeFault(
  fault: TensorFault,
  tensor: Tensor,
  { dtypes, shape = [], layout }: TensorRule,
  stream: Stream,
): string {
  const received = describeList(tensor.shape);
  switch (fault) {
    case 'device':
      if (tensor.device.runtime !== stream.device.runtime) {
        return (
          `belongs to another runtime than the stream: it is on ${tensor.device.name} of that ` +
          `runtime, the stream on ${stream.device.name} of its own. ` +
          'Use a tensor and a stream of one runtime.'
        );
      }
      return (
        `is on ${tensor.device.name}, but the stream is on ${stream.device.name}. ` +
        'Use a tensor and a stream of one device and one runtime.'
      );
    case 'dtype':
      return `must be ${dtypes.join(' or ')}, got ${tensor.dtype}. Convert it first.`;
    case 'shape':
      return `must have shape [${shape.map((size) => size ?? 'any').join(', ')}], got ${received}.`;
    case 'layout': {
      const wanted = layout === 'rows' ? 'have dense rows that do not overlap' : 'be contiguous';
      const strides = describeList(tensor.strides);
      return `must ${wanted}, got shape ${received} with strides ${strides}. Copy it first.`;
    }
  }
}
