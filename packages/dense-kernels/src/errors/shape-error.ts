import { DenseKernelsError } from './dense-kernels-error.js';

/** A tensor has the wrong rank, size, strides or bytes. */
export class ShapeError extends DenseKernelsError {
  override readonly name = 'ShapeError';

  constructor(operation: string, argument: string, detail: string) {
    super({ code: 'DENSE_SHAPE', operation, argument, detail });
  }
}
