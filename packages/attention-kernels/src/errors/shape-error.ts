import { AttentionKernelsError } from './attention-kernels-error.js';

/** A tensor has the wrong rank, size, strides or bytes. */
export class ShapeError extends AttentionKernelsError {
  override readonly name = 'ShapeError';

  constructor(operation: string, argument: string, detail: string) {
    super({ code: 'ATTENTION_SHAPE', operation, argument, detail });
  }
}
