import type { Device, DeviceBuffer } from '../contract.js';
import { notTheObject } from '../errors/not-the-object.js';
import type { Handle } from '../native/binding.js';
import { NativeRecord } from '../native/record.js';

/** The one implementation of `DeviceBuffer`. */
export class NativeBuffer implements DeviceBuffer {
  readonly device: Device;
  readonly bytes: number;
  readonly label: string;
  readonly #record: NativeRecord;

  constructor(device: Device, handle: Handle, bytes: number, label: string) {
    this.device = device;
    this.bytes = bytes;
    this.label = label;
    this.#record = new NativeRecord(this, handle, `buffer ${label || `of ${bytes} bytes`}`);
  }

  get isDisposed(): boolean {
    return this.#record.isReleased;
  }

  /** @internal The handle; 0 after `dispose`, and of a proxy. */
  get handle(): Handle {
    return #record in this ? this.#record.handle : 0;
  }

  use(api: string): Handle {
    if (!(#record in this)) throw notTheObject(api, 'buffer');
    return this.#record.use(api);
  }

  dispose(): void {
    this.#record.release();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}
