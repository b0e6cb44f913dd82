// What every operation of this package takes besides its tensors, and how it comes by its outputs.
import {
  type DType,
  type Stream,
  type Tensor,
  type TensorAllocator,
  Workspace,
} from '@altstream/cuda-runtime';
import { checkTensor } from './checks.js';

/** Where an operation runs and where its outputs come from. */
export interface OperationOptions {
  /** The work is enqueued here; the call returns before it is done. */
  readonly stream: Stream;
  /** Makes outputs and scratch; default: the stream. A `Workspace` keeps addresses for graphs. */
  readonly allocator?: TensorAllocator | undefined;
}

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
    checkTensor(operation, argument, given, stream, { dtypes: [dtype], shape, contiguous: true });
    return given;
  }
  return (options.allocator ?? options.stream).tensor(shape, dtype, operation);
}

/**
 * Lends `launch` scratch memory that nothing needs afterwards: in stream order the next tensor of
 * the same allocator may have it. No bytes: null.
 */
export function withScratch(
  operation: string,
  bytes: number,
  options: OperationOptions,
  launch: (scratch: Tensor | null) => void,
): void {
  if (bytes === 0) {
    launch(null);
    return;
  }
  const allocator = options.allocator ?? options.stream;
  const mark = allocator instanceof Workspace ? allocator.mark() : undefined;
  const scratch = allocator.tensor([bytes], 'u8', `${operation} scratch`);
  try {
    launch(scratch);
  } finally {
    scratch.dispose();
    if (mark) mark.workspace.release(mark);
  }
}
