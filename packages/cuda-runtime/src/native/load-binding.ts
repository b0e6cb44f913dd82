import { createRequire } from 'node:module';
import { BackendUnavailableError } from '../errors/backend-unavailable-error.js';
import type { NativeBinding } from './binding.js';

/** Loads the addon. @throws BackendUnavailableError `NO_ADDON` */
export function loadBinding(): NativeBinding {
  const file = new URL('../../build/Release/cuda_runtime.node', import.meta.url).pathname;
  try {
    return createRequire(import.meta.url)(file) as NativeBinding;
  } catch (cause) {
    const detail = `${file} cannot be loaded: ${cause instanceof Error ? cause.message : cause}`;
    throw new BackendUnavailableError({ api: 'open', reason: 'NO_ADDON', detail, cause });
  }
}
