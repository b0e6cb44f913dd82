import { DenseKernelsError } from './dense-kernels-error.js';

/** A tensor has a data type that the operation does not take. */
export class DTypeError extends DenseKernelsError {
  override readonly name = 'DTypeError';

  constructor(operation: string, argument: string, detail: string) {
    super({ code: 'DENSE_DTYPE', operation, argument, detail });
  }
}
