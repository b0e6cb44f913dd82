import { type Kernel, KernelLibrary, type Runtime, type Stream } from '@altstream/cuda-runtime';
import { NotLoadedError } from './errors/index.js';

const library = new KernelLibrary({
  package: '@altstream/dense-kernels',
  from: import.meta.url,
  notLoaded: (kernel) => new NotLoadedError(kernel),
});

/**
 * Loads this package's kernels into `runtime`. Once per runtime: later calls return the first load.
 * Await it before the first operation.
 *
 * @throws KernelImageError, BackendUnavailableError of cuda-runtime; a failed load may be retried
 */
export function loadDenseKernels(runtime: Runtime): Promise<void> {
  return library.load(runtime);
}

/**
 * The kernel `name` for the runtime of `stream`.
 *
 * @throws NotLoadedError when `loadDenseKernels` has not finished for that runtime
 */
export function denseKernel(stream: Stream, name: string): Kernel {
  return library.kernel(stream, name);
}
