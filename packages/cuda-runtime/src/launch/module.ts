import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { checkText } from '../arguments/faults.js';
import type { Kernel, Module, Runtime } from '../contract.js';
import { KernelImageError } from '../errors/kernel-image-error.js';
import { notTheObject } from '../errors/not-the-object.js';
import type { Handle } from '../native/binding.js';
import { environment } from '../native/environment.js';
import { guarded } from '../native/guarded.js';
import { NativeRecord, runtimeTerms } from '../native/record.js';
import { runTask } from '../native/task.js';
import { findManifest } from './find-artefacts.js';
import { HostFunction } from './host-function.js';
import { encodeHostParams } from './host-params.js';
import { NativeKernel } from './kernel.js';
import { type ManifestKernel, parseHostFunctions, parseManifest } from './manifest.js';
import type { ModuleSource } from './module-source.js';
import type { CallbackParams, NativeCallback } from './native-callback.js';
import type { ParamsLayout } from './params/params-layout.js';

/** Finds, checks and loads a kernel package. @throws KernelImageError */
export async function loadModule(runtime: Runtime, source: ModuleSource): Promise<NativeModule> {
  const manifest = findManifest(source);
  const text = await textOf(manifest);
  const described = {
    kernels: parseManifest(text, manifest),
    hosts: parseHostFunctions(text, manifest),
  };
  const owner = runtime.use('runtime.loadModule');
  const { binding } = environment();
  const handle = await runTask((token) =>
    binding.loadModuleAsync(owner, text, dirname(manifest), token),
  );
  return new NativeModule(runtime, manifest, handle, described);
}

async function textOf(manifest: string): Promise<string> {
  try {
    return await readFile(manifest, 'utf8');
  } catch (cause) {
    throw new KernelImageError({
      code: 'CRT_NO_KERNEL_IMAGE',
      api: 'runtime.loadModule',
      detail: `${manifest} cannot be read`,
      hint: 'Correct its permissions, or build the kernel package again',
      cause,
    });
  }
}

/** What a manifest says. */
interface Described {
  readonly kernels: ReadonlyMap<string, ManifestKernel>;
  readonly hosts: ReadonlyMap<string, ParamsLayout>;
}

/** The one implementation of `Module`. */
export class NativeModule implements Module {
  readonly runtime: Runtime;
  readonly manifest: string;
  readonly #record: NativeRecord;
  readonly #described: Described;
  readonly #kernels = new Map<string, NativeKernel>();

  constructor(runtime: Runtime, manifest: string, handle: Handle, described: Described) {
    this.runtime = runtime;
    this.manifest = manifest;
    this.#described = described;
    this.#record = new NativeRecord(this, handle, `module ${manifest}`, runtimeTerms);
  }

  get kernels(): readonly string[] {
    if (!(#described in this)) throw notTheObject('module.kernels', 'module');
    return [...this.#described.kernels.keys()];
  }

  kernel(name: string): Kernel {
    if (!(#record in this)) throw notTheObject('module.kernel', 'module');
    this.#record.use('module.kernel');
    const known = this.#kernels.get(name);
    if (known) return known;
    checkText('module.kernel', 'name', name);
    const described = this.#described.kernels.get(name);
    const handle = described ? this.#find(name) : 0;
    if (!described || handle === 0) throw this.#noKernel(name, described !== undefined);
    const kernel = new NativeKernel(this, handle, described);
    this.#kernels.set(name, kernel);
    return kernel;
  }

  callback(name: string, params: CallbackParams): NativeCallback {
    const api = 'module.callback';
    if (!(#record in this)) throw notTheObject(api, 'module');
    checkText(api, 'name', name);
    const layout = this.#described.hosts.get(name);
    if (!layout) {
      const known = [...this.#described.hosts.keys()].join(', ') || 'none';
      throw new KernelImageError({
        code: 'CRT_NO_SYMBOL',
        api,
        detail: `no host function ${name} in ${this.manifest}; it holds ${known}`,
        hint: 'Correct the name, or build the kernel package again',
      });
    }
    const { binding, block } = environment();
    encodeHostParams(block, name, layout, params);
    const handle = guarded(() => binding.moduleHostFunction(this.#record.use(api), name));
    return new HostFunction(name, handle);
  }

  /** @internal Ends with its runtime; launches under way keep what they use. */
  release(): void {
    for (const kernel of this.#kernels.values()) kernel.release();
    this.#record.release();
  }

  #find(name: string): Handle {
    return guarded(() =>
      environment().binding.moduleKernel(this.#record.use('module.kernel'), name),
    );
  }

  #noKernel(name: string, isListed: boolean): KernelImageError {
    const { backend } = this.runtime;
    return new KernelImageError({
      code: isListed && backend === 'cpu' ? 'CRT_NO_CPU_KERNEL' : 'CRT_NO_SYMBOL',
      api: 'module.kernel',
      backend,
      detail: isListed
        ? `kernel ${name} is in ${this.manifest}, but not built for the ${backend} backend`
        : `no kernel ${name} in ${this.manifest}; it holds ${this.kernels.join(', ') || 'none'}`,
      hint: 'Correct the name, or build the kernel package again',
    });
  }
}
