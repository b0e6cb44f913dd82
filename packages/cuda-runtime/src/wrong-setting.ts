import { ArgumentError } from './errors/argument-error.js';
import { environment } from './native/environment.js';
import { guarded } from './native/guarded.js';
import { resolveOptions } from './open-options.js';
import { readSettings } from './settings.js';

const level = 'CUDA_RUNTIME_CPU_LEVEL';

/** Why a variable of the environment keeps `open` without options from opening `backend`. */
export function wrongSetting(backend: 'cpu' | 'cuda'): unknown {
  try {
    const { native } = resolveOptions({ backend }, readSettings());
    // Whether the machine has a level only the addon knows, and it says so when it opens.
    if (backend === 'cpu' && native.cpu.level !== '') tryToOpen(JSON.stringify(native));
    return undefined;
  } catch (error) {
    return error;
  }
}

function tryToOpen(options: string): void {
  const { binding } = environment();
  try {
    binding.closeRuntime(guarded(() => binding.openRuntime('cpu', options)));
  } catch (error) {
    if (!ArgumentError.isInstance(error)) throw error;
    // The addon got the level as if it were an option.
    const detail = error.message.replace('`cpu.level`', level);
    throw Object.assign(error, { message: detail });
  }
}
