import { AttentionKernelsError } from './attention-kernels-error.js';

/** An operation was called before `loadAttentionKernels` finished for this runtime. */
export class NotLoadedError extends AttentionKernelsError {
  override readonly name = 'NotLoadedError';

  constructor(kernel: string) {
    super({
      code: 'ATTENTION_NOT_LOADED',
      operation: kernel,
      argument: '',
      detail:
        "the kernels of @altstream/attention-kernels are not loaded for this stream's runtime. " +
        'Call `await loadAttentionKernels(runtime)` once before the first operation.',
    });
  }
}
