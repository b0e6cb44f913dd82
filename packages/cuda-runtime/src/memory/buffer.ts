import type { Device, DeviceBuffer } from '../contract.js';
import { ArgumentError } from '../errors/argument-error.js';
import { describeValue } from '../errors/describe-value.js';
import { notTheObject } from '../errors/not-the-object.js';
import { shorten } from '../errors/short-text.js';
import type { Handle } from '../native/binding.js';
import { disposedView, noteDisposal, SharedMemory } from './shared-memory.js';

/** Where a view of a buffer lies. */
interface Part {
  /** The buffer that allocated the memory. */
  readonly whole: NativeBuffer;
  readonly byteOffset: number;
  /** Its end is one of the record, although views have no share: it stands for the buffer. */
  readonly standsForWhole?: boolean;
}

/** The one implementation of `DeviceBuffer`. */
export class NativeBuffer implements DeviceBuffer {
  readonly device: Device;
  readonly bytes: number;
  readonly byteOffset: number;
  readonly label: string;
  /** @internal The buffer that allocated the memory; it may be disposed before its views. */
  readonly whole: NativeBuffer;
  // Let go by `dispose`, so that what is disposed does not keep a record from the collector.
  #memory: SharedMemory | undefined;
  // Whether the record counts this wrapper.
  readonly #isCounted: boolean;

  /**
   * @param memory the handle of a fresh record, or a record; that of `part` is opened by the caller
   */
  constructor(
    device: Device,
    memory: Handle | SharedMemory,
    bytes: number,
    label: string,
    part?: Part,
  ) {
    this.device = device;
    this.bytes = bytes;
    this.label = label;
    this.byteOffset = part?.byteOffset ?? 0;
    this.whole = part?.whole ?? this;
    const record =
      memory instanceof SharedMemory ? memory : new SharedMemory(memory, nameOf(label, bytes));
    this.#memory = record;
    this.#isCounted = part === undefined || part.standsForWhole === true || !record.isLent;
  }

  get isDisposed(): boolean {
    if (!(#memory in this)) throw notTheObject('buffer.isDisposed', 'buffer');
    return this.#memory === undefined || this.#memory.isReleased;
  }

  /** @internal The handle; 0 after `dispose`, and of a proxy. */
  get handle(): Handle {
    return #memory in this ? (this.#memory?.handle ?? 0) : 0;
  }

  use(api: string): Handle {
    return this.shared(api).use(api);
  }

  /** @internal The record, for views of it. @throws DisposedError, ArgumentError for a proxy */
  shared(api: string): SharedMemory {
    if (!(#memory in this)) throw notTheObject(api, 'buffer');
    const memory = this.#memory;
    if (memory === undefined) throw disposedView(api, this, this.describe());
    if (memory.isReleased) memory.use(api);
    return memory;
  }

  subarray(byteOffset: number, byteLength?: number): DeviceBuffer {
    const memory = this.shared('buffer.subarray');
    const view = this.#part(memory, byteOffset, byteLength, false);
    if (view.#isCounted) memory.open(view);
    return view;
  }

  /**
   * @internal A part that takes the place of this buffer, which ends: with the part the reference
   * goes, also where views have no share.
   */
  become(byteOffset: number, byteLength: number): DeviceBuffer {
    const view = this.#part(this.shared('buffer.subarray'), byteOffset, byteLength, true);
    this.#memory = undefined;
    return view;
  }

  #part(
    memory: SharedMemory,
    byteOffset: number,
    byteLength: number | undefined,
    standsForWhole: boolean,
  ): NativeBuffer {
    const api = 'buffer.subarray';
    checkCount(api, 'byteOffset', byteOffset, this.bytes);
    const most = this.bytes - byteOffset;
    if (byteLength !== undefined) checkCount(api, 'byteLength', byteLength, most);
    const place = { whole: this.whole, byteOffset: this.byteOffset + byteOffset, standsForWhole };
    return new NativeBuffer(this.device, memory, byteLength ?? most, this.label, place);
  }

  /** @internal For messages. */
  describe(): string {
    if (this.whole === this) return nameOf(this.label, this.bytes);
    return `bytes ${this.byteOffset} … ${this.byteOffset + this.bytes} of ${this.whole.describe()}`;
  }

  dispose(): void {
    if (!(#memory in this)) throw notTheObject('buffer.dispose', 'buffer');
    const memory = this.#memory;
    if (memory === undefined) return;
    this.#memory = undefined;
    noteDisposal<NativeBuffer>(this, describeBuffer);
    if (this.#isCounted) memory.close(this);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

function describeBuffer(buffer: NativeBuffer): string {
  return buffer.describe();
}

/** A buffer in messages. */
export function nameOf(label: string, bytes: number): string {
  return `buffer ${shorten(label) || `of ${bytes} bytes`}`;
}

function checkCount(api: string, name: string, value: number, most: number): void {
  if (Number.isSafeInteger(value) && value >= 0 && value <= most) return;
  const detail = `\`${name}\` is ${describeValue(value)}, expected 0 … ${most}`;
  throw new ArgumentError({ api, detail });
}
