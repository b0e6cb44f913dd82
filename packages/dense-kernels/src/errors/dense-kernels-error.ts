const marker = Symbol.for('@altstream/dense-kernels/error');

/** Stable codes of this package's errors. */
export type DenseKernelsErrorCode =
  | 'DENSE_SHAPE'
  | 'DENSE_DTYPE'
  | 'DENSE_RANGE'
  | 'DENSE_DEVICE'
  | 'DENSE_NOT_LOADED';

/** What an error of this package is about. */
export interface DenseKernelsErrorFacts {
  readonly code: DenseKernelsErrorCode;
  /** The public function that was called, e.g. `linear`. */
  readonly operation: string;
  /** The argument at fault, e.g. `weight.scales`; empty when none is. */
  readonly argument: string;
  /** What was expected, what was received, what to do; without operation and argument. */
  readonly detail: string;
}

/** Base of every error that this package throws. Recognised by marker across package copies. */
export class DenseKernelsError extends Error {
  override readonly name: string = 'DenseKernelsError';
  /** Stable code; texts may change, codes do not. */
  readonly code: DenseKernelsErrorCode;
  /** The public function that was called. */
  readonly operation: string;
  /** The argument at fault; empty when none is. */
  readonly argument: string;

  constructor(facts: DenseKernelsErrorFacts) {
    const subject = facts.argument === '' ? '' : `${facts.argument} `;
    super(`${facts.operation}: ${subject}${facts.detail}`);
    this.code = facts.code;
    this.operation = facts.operation;
    this.argument = facts.argument;
    Object.defineProperty(this, marker, { value: true });
  }

  /** Whether `value` is an error of this package, whichever copy of the package made it. */
  static isInstance(value: unknown): value is DenseKernelsError {
    return typeof value === 'object' && value !== null && marker in value;
  }
}
