import type { Kernel, Module, Runtime, Stream } from '@altstream/cuda-runtime';
import { NotLoadedError } from './errors/index.js';

const modules = new WeakMap<Runtime, Module>();
const loads = new WeakMap<Runtime, Promise<void>>();

/**
 * Loads this package's kernels into `runtime`. Once per runtime: later calls return the first load.
 * Await it before the first operation.
 *
 * @throws KernelImageError, BackendUnavailableError of cuda-runtime; a failed load may be retried
 */
export function loadAttentionKernels(runtime: Runtime): Promise<void> {
  const running = loads.get(runtime);
  if (running) return running;
  const load = runtime
    .loadModule({ package: '@altstream/attention-kernels', from: import.meta.url })
    .then((module) => {
      modules.set(runtime, module);
    })
    .catch((error: unknown) => {
      loads.delete(runtime);
      throw error;
    });
  loads.set(runtime, load);
  return load;
}

/**
 * The kernel `name` for the runtime of `stream`.
 *
 * @throws NotLoadedError when `loadAttentionKernels` has not finished for that runtime
 */
export function attentionKernel(stream: Stream, name: string): Kernel {
  const module = modules.get(stream.runtime);
  if (!module) throw new NotLoadedError(name);
  return module.kernel(name);
}
