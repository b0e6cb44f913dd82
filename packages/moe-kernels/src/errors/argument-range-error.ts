import { MoeKernelsError } from './moe-kernels-error.js';

/** A number or option outside of what the operation allows. Code `MOE_ARGUMENT_RANGE`. */
export class ArgumentRangeError extends MoeKernelsError {
  readonly operation: string;

  constructor(operation: string, problem: string) {
    super('MOE_ARGUMENT_RANGE', `${operation}: ${problem}`);
    this.operation = operation;
  }
}
