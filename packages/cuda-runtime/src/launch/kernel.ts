import { wrongKind } from '../arguments/faults.js';
import type { Device, Kernel, KernelParams, Module } from '../contract.js';
import { ArgumentError } from '../errors/argument-error.js';
import { BackendMismatchError } from '../errors/backend-mismatch-error.js';
import { LaunchConfigError } from '../errors/launch-config-error.js';
import { notTheObject } from '../errors/not-the-object.js';
import type { Handle } from '../native/binding.js';
import { environment } from '../native/environment.js';
import { guarded } from '../native/guarded.js';
import { NativeRecord, runtimeTerms } from '../native/record.js';
import { notCloneable } from '../threads/not-cloneable.js';
import { encodeConfig } from './config-encoder.js';
import type { KernelAttributes, KernelCode } from './kernel-attributes.js';
import type { LaunchConfig } from './launch-config.js';
import type { ManifestKernel } from './manifest.js';
import { ParamsEncoder } from './params/params-encoder.js';
import type { ParamsLayout } from './params/params-layout.js';

/** The one implementation of `Kernel`. */
export class NativeKernel implements Kernel {
  readonly name: string;
  readonly params: ParamsLayout;
  readonly attributes: KernelAttributes;
  /** @internal Refuses structured clone. */
  readonly cloning = notCloneable;
  // Also keeps the module's record alive while the kernel can be launched.
  readonly #module: Module;
  readonly #record: NativeRecord;
  readonly #encoder: ParamsEncoder;

  constructor(module: Module, handle: Handle, { attributes, params }: ManifestKernel) {
    this.#module = module;
    this.name = attributes.name;
    this.attributes = attributes;
    this.params = params;
    this.#record = new NativeRecord(this, handle, `kernel ${attributes.name}`, runtimeTerms);
    this.#encoder = new ParamsEncoder(attributes.name, params);
  }

  encode(
    device: Device,
    config: LaunchConfig,
    params: KernelParams,
    api: string = 'stream.launch',
  ): Handle {
    const handle = this.use(api);
    if (this.#module.runtime !== device.runtime) throw this.#foreign(api, device.runtime.backend);
    const { block } = environment();
    block.turn += 1;
    const { turn } = block;
    encodeConfig(block, config, this.attributes, device.limits, api);
    this.#encoder.encode(block, params, device, api);
    if (block.turn !== turn) throw reentered(api);
    return handle;
  }

  /** @internal The native handle. @throws DisposedError, ArgumentError for a proxy */
  use(api: string): Handle {
    if (!(#record in this)) throw notTheObject(api, 'kernel');
    return this.#record.use(api);
  }

  get code(): KernelCode | undefined {
    const { binding } = environment();
    const code = JSON.parse(guarded(() => binding.kernelCode(this.use('kernel.code'))));
    return 'registers' in code ? code : undefined;
  }

  occupancy(block: number, sharedBytes = 0): number {
    const api = 'kernel.occupancy';
    const handle = this.use(api);
    const { maxThreadsPerBlock: most } = this.attributes;
    if (!Number.isInteger(block) || block < 1) {
      throw wrongKind(api, 'block', block, 'a positive integer');
    }
    if (!Number.isInteger(sharedBytes) || sharedBytes < 0) {
      throw wrongKind(api, 'sharedBytes', sharedBytes, 'a non-negative integer');
    }
    if (block > most) {
      const detail = `kernel ${this.name}: \`block\` is ${block}, expected at most ${most}`;
      throw new LaunchConfigError({ api, detail, hint: 'Use a smaller block' });
    }
    return guarded(() => environment().binding.kernelOccupancy(handle, block, sharedBytes));
  }

  /** @internal Ends with its module. */
  release(): void {
    this.#record.release();
  }

  #foreign(api: string, backend: string): BackendMismatchError {
    return new BackendMismatchError({
      api,
      detail: `kernel ${this.name} was loaded by another runtime than the stream's (${backend})`,
      hint: 'Load the module with `stream.runtime.loadModule`',
    });
  }
}

// The block describes one launch: another one, made by a getter meanwhile, has overwritten it.
function reentered(api: string): ArgumentError {
  const detail = 'a getter of `config` or `params` described another launch';
  return new ArgumentError({ api, detail, hint: 'Pass plain values' });
}
