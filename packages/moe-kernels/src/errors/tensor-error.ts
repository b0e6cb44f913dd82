import { MoeKernelsError } from './moe-kernels-error.js';

/** What a tensor argument should have been. */
export interface TensorFacts {
  readonly operation: string;
  readonly argument: string;
  readonly expected: string;
  readonly received: string;
}

/** A tensor argument that does not fit; its subclasses say in which respect. */
export class TensorError extends MoeKernelsError {
  readonly facts: TensorFacts;

  constructor(code: string, facts: TensorFacts) {
    const { operation, argument, expected, received } = facts;
    super(code, `${operation}: \`${argument}\` is ${received}, expected ${expected}`);
    this.facts = facts;
  }
}
