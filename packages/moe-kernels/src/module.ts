import type { Kernel, Module, Runtime, Stream } from '@altstream/cuda-runtime';
import { NotLoadedError } from './errors/index.js';

const loading = new WeakMap<Runtime, Promise<Module>>();
const loaded = new WeakMap<Runtime, Module>();

/**
 * Loads the kernels of this package for `runtime`; await it once before the first operation.
 * Calling it again is free. A failed load is forgotten, so that a later call tries anew.
 *
 * @throws the runtime's error when an artefact is missing or does not fit (`CRT_…`)
 */
export async function loadMoeKernels(runtime: Runtime): Promise<void> {
  let pending = loading.get(runtime);
  if (pending === undefined) {
    pending = runtime.loadModule({ package: '@altstream/moe-kernels', from: import.meta.url });
    loading.set(runtime, pending);
  }
  try {
    loaded.set(runtime, await pending);
  } catch (error) {
    loading.delete(runtime);
    throw error;
  }
}

/** The kernel `name` of the stream's runtime. @throws NotLoadedError before `loadMoeKernels` */
export function moeKernel(stream: Stream, name: string): Kernel {
  const module = loaded.get(stream.runtime);
  if (module === undefined) throw new NotLoadedError(name);
  return module.kernel(name);
}
