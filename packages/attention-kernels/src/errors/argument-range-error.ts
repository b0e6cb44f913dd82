import { AttentionKernelsError } from './attention-kernels-error.js';

/** A number or choice is outside what the operation allows. */
export class ArgumentRangeError extends AttentionKernelsError {
  override readonly name = 'ArgumentRangeError';

  constructor(operation: string, argument: string, detail: string) {
    super({ code: 'ATTENTION_RANGE', operation, argument, detail });
  }
}
