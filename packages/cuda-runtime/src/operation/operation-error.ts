/** What an error of an operation is about. */
export interface OperationErrorFacts<Code extends string = string> {
  /** Stable code of the package, e.g. `DENSE_SHAPE`. */
  readonly code: Code;
  /** The public function that was called, e.g. `linear`. */
  readonly operation: string;
  /** The argument at fault, e.g. `weight.scales`; empty when none is. */
  readonly argument: string;
  /** What was expected, what was received, what to do; without operation and argument. */
  readonly detail: string;
}

/**
 * What the error bases of kernel packages share. A package extends it once, with a marker of its
 * own by which its errors are recognised across copies of the package.
 */
export class OperationError<Code extends string = string> extends Error {
  /** Stable code; texts may change, codes do not. */
  readonly code: Code;
  /** The public function that was called. */
  readonly operation: string;
  /** The argument at fault; empty when none is. */
  readonly argument: string;

  constructor(facts: OperationErrorFacts<Code>, marker: symbol) {
    const subject = facts.argument === '' ? '' : `${facts.argument} `;
    super(`${facts.operation}: ${subject}${facts.detail}`);
    this.code = facts.code;
    this.operation = facts.operation;
    this.argument = facts.argument;
    Object.defineProperty(this, marker, { value: true });
  }
}
