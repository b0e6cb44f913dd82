import { TensorError, type TensorFacts } from './tensor-error.js';

/** A tensor has the wrong shape or strides, or overlaps another. Code `MOE_SHAPE`. */
export class ShapeError extends TensorError {
  constructor(facts: TensorFacts) {
    super('MOE_SHAPE', facts);
  }
}
