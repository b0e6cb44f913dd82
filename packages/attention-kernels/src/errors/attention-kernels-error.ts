const marker = Symbol.for('@altstream/attention-kernels/error');

/** Stable codes of this package's errors. */
export type AttentionKernelsErrorCode =
  | 'ATTENTION_SHAPE'
  | 'ATTENTION_DTYPE'
  | 'ATTENTION_RANGE'
  | 'ATTENTION_DEVICE'
  | 'ATTENTION_NOT_LOADED';

/** What an error of this package is about. */
export interface AttentionKernelsErrorFacts {
  readonly code: AttentionKernelsErrorCode;
  /** The public function that was called, e.g. `pagedAttention`. */
  readonly operation: string;
  /** The argument at fault, e.g. `kCache`; empty when none is. */
  readonly argument: string;
  /** What was expected, what was received, what to do; without operation and argument. */
  readonly detail: string;
}

/** Base of every error that this package throws. Recognised by marker across package copies. */
export class AttentionKernelsError extends Error {
  override readonly name: string = 'AttentionKernelsError';
  /** Stable code; texts may change, codes do not. */
  readonly code: AttentionKernelsErrorCode;
  /** The public function that was called. */
  readonly operation: string;
  /** The argument at fault; empty when none is. */
  readonly argument: string;

  constructor(facts: AttentionKernelsErrorFacts) {
    const subject = facts.argument === '' ? '' : `${facts.argument} `;
    super(`${facts.operation}: ${subject}${facts.detail}`);
    this.code = facts.code;
    this.operation = facts.operation;
    this.argument = facts.argument;
    Object.defineProperty(this, marker, { value: true });
  }

  /** Whether `value` is an error of this package, whichever copy of the package made it. */
  static isInstance(value: unknown): value is AttentionKernelsError {
    return typeof value === 'object' && value !== null && marker in value;
  }
}
