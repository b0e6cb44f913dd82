import { AttentionKernelsError } from './attention-kernels-error.js';

/** A tensor has a data type that the operation does not take. */
export class DTypeError extends AttentionKernelsError {
  override readonly name = 'DTypeError';

  constructor(operation: string, argument: string, detail: string) {
    super({ code: 'ATTENTION_DTYPE', operation, argument, detail });
  }
}
