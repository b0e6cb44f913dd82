// How the operations of this package come by their outputs and scratch.
import {
  type DType,
  type OperationOptions,
  type Tensor,
  withScratch,
} from '@altstream/cuda-runtime';
import { checksOf } from './checks.js';

/** What an output must look like. */
export interface OutputRule {
  readonly shape: readonly number[];
  readonly dtype: DType;
}

/**
 * The output tensor: `given` if the caller brought one, else a new contiguous one.
 *
 * @throws DeviceError, DTypeError, ShapeError for a `given` tensor that does not fit or is not dense
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

/** Runs `launch` with scratch of `bytes`, null for none, that the next tensor may have again. */
export function launchWithScratch(
  operation: string,
  bytes: number,
  { stream, allocator = stream }: OperationOptions,
  launch: (scratch: Tensor | null) => void,
): void {
  if (bytes === 0) {
    launch(null);
    return;
  }
  withScratch(allocator, (scratch) => {
    launch(scratch.tensor([bytes], 'u8', `${operation} scratch`));
  });
}
