import { wrongKind, wrongRuntime } from '../arguments/faults.js';
import type { Device, Memory } from '../contract.js';
import { ArgumentError } from '../errors/argument-error.js';
import type { Handle } from '../native/binding.js';
import { NativeBuffer } from './buffer.js';
import { HostBuffer } from './host-buffer.js';
import { changed, hasPlace, TensorView } from './tensor.js';

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
    if (!hasPlace(memory)) throw changed(api, memory);
    checkDevice(api, argument, memory.device, device);
    const handle = memory.use(api);
    if (handle === 0) throw madeElsewhere(api, argument);
    return { handle, offset: memory.byteOffset, bytes: memory.bytes };
  }
  if (memory instanceof NativeBuffer) {
    checkDevice(api, argument, memory.device, device);
    return { handle: memory.use(api), offset: memory.byteOffset, bytes: memory.bytes };
  }
  if (memory instanceof HostBuffer) {
    return { handle: memory.use(api), offset: 0, bytes: memory.bytes };
  }
  throw notMemory(api, argument, memory);
}

function notMemory(api: string, argument: string, value: unknown): ArgumentError {
  return wrongKind(api, argument, value, 'a tensor or a buffer');
}

function madeElsewhere(api: string, argument: string): ArgumentError {
  const detail = `\`${argument}\` is a tensor of a buffer that no device made, expected a tensor or a buffer`;
  return new ArgumentError({ api, detail });
}

function checkDevice(
  api: string,
  argument: string,
  actual: Device | undefined,
  expected: Device | undefined,
): void {
  if (actual === expected) return;
  if (expected === undefined) throw wrongKind(api, 'this', expected, 'a stream');
  if (actual === undefined) throw madeElsewhere(api, argument);
  if (actual.runtime === expected.runtime) {
    const detail = `\`${argument}\` is on device ${actual.index}, the stream on ${expected.index}`;
    throw new ArgumentError({ api, detail });
  }
  throw wrongRuntime(api, argument, expected.runtime);
}
