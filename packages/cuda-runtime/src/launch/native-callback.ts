import type { HostBuffer } from '../memory/host-buffer.js';
import type { Handle } from '../native/binding.js';

/**
 * A native function of a kernel package with its arguments, for `stream.host` and `graph.addHost`.
 * It runs on the one callback thread of the device, may not use the runtime, and should be short.
 */
export interface NativeCallback {
  readonly name: string;
  /** @internal */
  use(api: string): Handle;
}

/** Arguments of a host function by field name; pointers take host buffers. */
export type CallbackParams = Readonly<Record<string, HostBuffer | number | bigint | null>>;
