import { OperationError, type OperationErrorFacts } from '@altstream/cuda-runtime';

const marker = Symbol.for('@altstream/dense-kernels/error');

/** Stable codes of this package's errors. */
export type DenseKernelsErrorCode =
  | 'DENSE_SHAPE'
  | 'DENSE_DTYPE'
  | 'DENSE_RANGE'
  | 'DENSE_DEVICE'
  | 'DENSE_NOT_LOADED';

/** What an error of this package is about. */
export type DenseKernelsErrorFacts = OperationErrorFacts<DenseKernelsErrorCode>;

/** Base of every error that this package throws. Recognised by marker across package copies. */
export class DenseKernelsError extends OperationError<DenseKernelsErrorCode> {
  override readonly name: string = 'DenseKernelsError';

  constructor(facts: DenseKernelsErrorFacts) {
    super(facts, marker);
  }

  /** Whether `value` is an error of this package, whichever copy of the package made it. */
  static isInstance(value: unknown): value is DenseKernelsError {
    return typeof value === 'object' && value !== null && marker in value;
  }
}
