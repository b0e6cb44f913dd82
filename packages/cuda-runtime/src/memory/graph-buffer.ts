import type { Device } from '../contract.js';
import { NotOwnerError } from '../errors/not-owner-error.js';
import type { Handle } from '../native/binding.js';
import { NativeBuffer, nameOf } from './buffer.js';
import { SharedMemory } from './shared-memory.js';

/**
 * Memory that a graph allocates. Disposing it outside is its free, unless a node does that (CM06);
 * views of it are borrowed.
 */
export class GraphBuffer extends NativeBuffer {
  /** @internal A node of a graph frees it. */
  isFreedByGraph = false;

  constructor(device: Device, handle: Handle, bytes: number, label: string) {
    super(device, new SharedMemory(handle, nameOf(label, bytes), true), bytes, label);
  }

  override dispose(): void {
    if (this.isFreedByGraph && !this.isDisposed) {
      throw new NotOwnerError({
        api: 'buffer.dispose',
        number: 1,
        detail: `buffer ${this.label || `of ${this.bytes} bytes`} is freed by a node of a graph`,
        hint: 'Let the graph free it; its memory goes with the graph',
      });
    }
    super.dispose();
  }
}
