import { MoeKernelsError } from './moe-kernels-error.js';
import type { ShapeFacts } from './shape-error.js';

/** A tensor has a data type that the operation does not take. Code `MOE_DTYPE`. */
export class DTypeError extends MoeKernelsError {
  readonly facts: ShapeFacts;

  constructor(facts: ShapeFacts) {
    const { operation, argument, expected, received } = facts;
    super('MOE_DTYPE', `${operation}: \`${argument}\` is ${received}, expected ${expected}`);
    this.facts = facts;
  }
}
