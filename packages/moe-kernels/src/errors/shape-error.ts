import { MoeKernelsError } from './moe-kernels-error.js';

/** What a tensor argument should have been. */
export interface ShapeFacts {
  readonly operation: string;
  readonly argument: string;
  readonly expected: string;
  readonly received: string;
}

/** A tensor has the wrong shape, strides or device. Code `MOE_SHAPE`. */
export class ShapeError extends MoeKernelsError {
  readonly facts: ShapeFacts;

  constructor(facts: ShapeFacts) {
    const { operation, argument, expected, received } = facts;
    super('MOE_SHAPE', `${operation}: \`${argument}\` is ${received}, expected ${expected}`);
    this.facts = facts;
  }
}
