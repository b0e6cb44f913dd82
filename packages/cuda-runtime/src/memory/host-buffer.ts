import { CudaRuntimeError } from '../errors/cuda-runtime-error.js';
import { fromNative } from '../errors/from-native.js';
import { notTheObject } from '../errors/not-the-object.js';
import type { Handle } from '../native/binding.js';
import { environment } from '../native/environment.js';
import { NativeRecord } from '../native/record.js';
import { notCloneable } from '../threads/not-cloneable.js';

// By the memory itself, for calls that get a view of it.
const owners = new WeakMap<ArrayBufferLike, HostBuffer>();

/** Pinned host memory that the device can copy from and to, also inside a captured graph. */
export class HostBuffer implements Disposable {
  readonly bytes: number;
  /** The memory itself; has length 0 after `dispose`. */
  readonly buffer: ArrayBuffer;
  /** @internal Refuses structured clone; the memory's array can be cloned and transferred. */
  readonly cloning = notCloneable;
  readonly #record: NativeRecord;

  /** @internal The wrapper of a fresh record, which it takes over. */
  static of(handle: Handle): HostBuffer {
    const { binding } = environment();
    try {
      return new HostBuffer(handle, binding.hostArray(handle));
    } catch (error) {
      binding.release(handle);
      throw isSharingForbidden(error) ? noSharedMemory(error) : fromNative(error);
    }
  }

  /** @internal Made by `device.allocHost`. */
  constructor(handle: Handle, buffer: ArrayBuffer) {
    this.bytes = buffer.byteLength;
    this.buffer = buffer;
    owners.set(buffer, this);
    this.#record = new NativeRecord(this, handle, `host buffer of ${buffer.byteLength} bytes`);
  }

  /** @internal The host buffer whose memory this is, if one's. */
  static owning(memory: ArrayBufferLike): HostBuffer | undefined {
    return owners.get(memory);
  }

  /** @internal The native handle. @throws DisposedError */
  use(api: string): Handle {
    if (!(#record in this)) throw notTheObject(api, 'host buffer');
    return this.#record.use(api);
  }

  /** Detaches `buffer` at once; the memory is freed after pending copies. */
  dispose(): void {
    if (!(#record in this)) throw notTheObject('hostBuffer.dispose', 'host buffer');
    this.#record.release();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

// Node-API's text for `napi_no_external_buffers_allowed`, which has no code in JavaScript.
function isSharingForbidden(error: unknown): boolean {
  return error instanceof Error && error.message === 'External buffers are not allowed';
}

function noSharedMemory(cause: unknown): CudaRuntimeError {
  return new CudaRuntimeError({
    code: 'CRT_NO_SHARED_MEMORY',
    api: 'device.allocHost',
    detail: 'this runtime of JavaScript lets no native memory be an ArrayBuffer, as Electron does',
    hint: 'Use `stream.write` and `stream.read`, which copy, or run this part in Node.js',
    cause,
  });
}
