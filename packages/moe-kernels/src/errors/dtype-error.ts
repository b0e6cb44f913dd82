import { TensorError, type TensorFacts } from './tensor-error.js';

/** A tensor has a data type that the operation does not take. Code `MOE_DTYPE`. */
export class DTypeError extends TensorError {
  constructor(facts: TensorFacts) {
    super('MOE_DTYPE', facts);
  }
}
