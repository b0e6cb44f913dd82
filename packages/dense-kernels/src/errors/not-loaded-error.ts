import { DenseKernelsError } from './dense-kernels-error.js';

/** An operation was called before `loadDenseKernels` finished for this runtime. */
export class NotLoadedError extends DenseKernelsError {
  override readonly name = 'NotLoadedError';

  constructor(kernel: string) {
    super({
      code: 'DENSE_NOT_LOADED',
      operation: kernel,
      argument: '',
      detail:
        "the kernels of @altstream/dense-kernels are not loaded for this stream's runtime. " +
        'Call `await loadDenseKernels(runtime)` once before the first operation.',
    });
  }
}
