import { checkFunction, checkText, wrongKind } from '../arguments/faults.js';
import { checkOptions, type OptionNames } from '../arguments/options.js';
import type { Kernel, Module, Runtime, Stream } from '../contract.js';
import { notCloneable } from '../threads/not-cloneable.js';

/** Where the kernels of a package are, and how the package says that they are not loaded. */
export interface KernelLibraryOptions {
  /** npm name of the kernel package, e.g. `@altstream/dense-kernels`. */
  readonly package: string;
  /** `import.meta.url` of the package: the search for its artefacts starts there. */
  readonly from: string;
  /**
   * Makes the package's own error for a kernel asked for too early; it names the loader to await.
   */
  readonly notLoaded: (kernel: string) => Error;
}

const names: OptionNames<KernelLibraryOptions> = { package: true, from: true, notLoaded: true };

/**
 * The kernels of one package in every runtime that loaded them: what stands behind a package's
 * `loadXKernels(runtime)` and behind the launches of its operations. One per package.
 */
export class KernelLibrary {
  /** @internal Refuses structured clone. */
  readonly cloning = notCloneable;
  readonly #options: KernelLibraryOptions;
  // Weak: a library lives as long as the program, and must not keep a disposed runtime.
  readonly #modules = new WeakMap<Runtime, Module>();
  readonly #loads = new WeakMap<Runtime, Promise<void>>();

  /** @throws ArgumentError */
  constructor(options: KernelLibraryOptions) {
    const api = 'new KernelLibrary';
    checkOptions(api, 'options', options, names);
    checkText(api, 'package', options.package);
    checkText(api, 'from', options.from);
    checkFunction(api, 'notLoaded', options.notLoaded);
    this.#options = options;
  }

  /**
   * Loads the kernels into `runtime`. Once per runtime: later calls return the first load. A failed
   * load is forgotten, so that a later call tries anew.
   *
   * @throws ArgumentError, KernelImageError, BackendUnavailableError
   */
  load(runtime: Runtime): Promise<void> {
    if (typeof runtime?.loadModule !== 'function') {
      return Promise.reject(wrongKind('kernelLibrary.load', 'runtime', runtime, 'a runtime'));
    }
    const running = this.#loads.get(runtime);
    if (running) return running;
    const load = this.#load(runtime);
    this.#loads.set(runtime, load);
    return load;
  }

  /**
   * The kernel `name` for the runtime of `stream`.
   *
   * @throws what `notLoaded` makes, before `load` has finished for that runtime; KernelImageError
   * `CRT_NO_SYMBOL` for a name that the package does not have; ArgumentError
   */
  kernel(stream: Stream, name: string): Kernel {
    const runtime = stream?.runtime;
    if (runtime === undefined) {
      throw wrongKind('kernelLibrary.kernel', 'stream', stream, 'a stream');
    }
    const module = this.#modules.get(runtime);
    if (!module) throw this.#options.notLoaded(name);
    return module.kernel(name);
  }

  async #load(runtime: Runtime): Promise<void> {
    const { package: name, from } = this.#options;
    try {
      this.#modules.set(runtime, await runtime.loadModule({ package: name, from }));
    } catch (error) {
      this.#loads.delete(runtime);
      throw error;
    }
  }
}
