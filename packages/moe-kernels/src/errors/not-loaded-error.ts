import { MoeKernelsError } from './moe-kernels-error.js';

/** An operation was called before the kernels of its runtime were loaded. Code `MOE_NOT_LOADED`. */
export class NotLoadedError extends MoeKernelsError {
  constructor(kernel: string) {
    super(
      'MOE_NOT_LOADED',
      `kernel \`${kernel}\`: the MoE kernels of this runtime are not loaded; ` +
        '`await loadMoeKernels(runtime)` once before the first operation',
    );
  }
}
