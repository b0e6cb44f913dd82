// How the operations of this package come by their outputs.
import type { DType, OperationOptions, Tensor } from '@altstream/cuda-runtime';
import { checksOf } from './checks.js';

/** What an output must look like. */
export interface OutputRule {
  readonly shape: readonly number[];
  readonly dtype: DType;
}

/**
 * The output tensor: `given` if the caller brought one, else a new contiguous one.
 *
 * @throws DeviceError, DTypeError, ShapeError for a `given` tensor that does not fit or is not
 * dense
 */
export function outputTensor(
  operation: string,
  argument: string,
  given: Tensor | undefined,
  rule: OutputRule,
  options: OperationOptions,
): Tensor {
  const { shape, dtype } = rule;
  if (given) {
    const { stream } = options;
    checksOf(operation, stream).tensor(argument, given, { dtypes: [dtype], shape });
    return given;
  }
  return (options.allocator ?? options.stream).tensor(shape, dtype, operation);
}
