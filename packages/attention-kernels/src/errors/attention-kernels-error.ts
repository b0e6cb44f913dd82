import { OperationError, type OperationErrorFacts } from '@altstream/cuda-runtime';

const marker = Symbol.for('@altstream/attention-kernels/error');

/** Stable codes of this package's errors. */
export type AttentionKernelsErrorCode =
  | 'ATTENTION_SHAPE'
  | 'ATTENTION_DTYPE'
  | 'ATTENTION_RANGE'
  | 'ATTENTION_DEVICE'
  | 'ATTENTION_NOT_LOADED';

/** What an error of this package is about. */
export type AttentionKernelsErrorFacts = OperationErrorFacts<AttentionKernelsErrorCode>;

/** Base of every error that this package throws. Recognised by marker across package copies. */
export class AttentionKernelsError extends OperationError<AttentionKernelsErrorCode> {
  override readonly name: string = 'AttentionKernelsError';

  constructor(facts: AttentionKernelsErrorFacts) {
    super(facts, marker);
  }

  /** Whether `value` is an error of this package, whichever copy of the package made it. */
  static isInstance(value: unknown): value is AttentionKernelsError {
    return typeof value === 'object' && value !== null && marker in value;
  }
}
