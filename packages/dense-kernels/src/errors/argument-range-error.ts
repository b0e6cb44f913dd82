import { DenseKernelsError } from './dense-kernels-error.js';

/** A number or choice is outside what the operation allows. */
export class ArgumentRangeError extends DenseKernelsError {
  override readonly name = 'ArgumentRangeError';

  constructor(operation: string, argument: string, detail: string) {
    super({ code: 'DENSE_RANGE', operation, argument, detail });
  }
}
