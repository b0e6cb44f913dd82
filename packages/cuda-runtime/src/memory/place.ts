import type { Device, Memory } from '../contract.js';
import { ArgumentError } from '../errors/argument-error.js';
import { BackendMismatchError } from '../errors/backend-mismatch-error.js';
import type { Handle } from '../native/binding.js';
import { NativeBuffer } from './buffer.js';
import { HostBuffer } from './host-buffer.js';
import { TensorView } from './tensor.js';

/** A contiguous range of memory, ready for a copy or fill. */
export interface Place {
  readonly handle: Handle;
  readonly offset: number;
  readonly bytes: number;
}

/**
 * The range of a buffer or of a contiguous tensor.
 * @throws ArgumentError, DisposedError, BackendMismatchError naming the argument
 */
export function placeOf(api: string, argument: string, memory: Memory, device: Device): Place {
  if (memory instanceof TensorView) {
    if (!memory.isContiguous) {
      const detail = `\`${argument}\` ${memory.describe()} is not contiguous`;
      throw new ArgumentError({ api, detail, hint: 'Copy row by row, or make it contiguous' });
    }
    checkDevice(api, argument, memory.device, device);
    const handle = memory.buffer.use(api);
    return { handle, offset: memory.byteOffset, bytes: memory.bytes };
  }
  if (memory instanceof NativeBuffer) {
    checkDevice(api, argument, memory.device, device);
    return { handle: memory.use(api), offset: 0, bytes: memory.bytes };
  }
  if (memory instanceof HostBuffer) {
    return { handle: memory.use(api), offset: 0, bytes: memory.bytes };
  }
  const detail = `\`${argument}\` is ${typeof memory}, expected a tensor or a buffer`;
  throw new ArgumentError({ api, detail });
}

function checkDevice(api: string, argument: string, actual: Device, expected: Device): void {
  if (actual === expected) return;
  if (actual.runtime === expected.runtime) {
    const detail = `\`${argument}\` is on device ${actual.index}, the stream on ${expected.index}`;
    throw new ArgumentError({ api, detail });
  }
  throw new BackendMismatchError({
    api,
    detail: `\`${argument}\` belongs to another runtime (${actual.runtime.backend})`,
    hint: 'Use memory and streams of one runtime',
  });
}
