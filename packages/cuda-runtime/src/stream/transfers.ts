import type { DeviceBuffer, Memory, Stream, Tensor } from '../contract.js';
import { ArgumentError } from '../errors/argument-error.js';
import { fromNative } from '../errors/from-native.js';
import { HostBuffer } from '../memory/host-buffer.js';
import { bytesOf, viewBytes } from '../memory/host-copy.js';
import { type Place, placeOf } from '../memory/place.js';
import { copyRange, fillRange } from '../memory/ranges.js';
import type { Handle } from '../native/binding.js';
import { environment } from '../native/environment.js';
import { guarded } from '../native/guarded.js';
import { checkRacesBehind } from '../races.js';

/** `stream.copy`. Without `bytes` both sides must be equally large. */
export function copy(stream: Stream, destination: Memory, source: Memory, bytes?: number): void {
  const api = 'stream.copy';
  const { to, from, bytes: count } = copyRange(api, stream.device, destination, source, bytes);
  const handle = stream.submit(api);
  // Not `guarded`, which would make a function for each of the copies between an engine's graphs.
  try {
    environment().binding.copy(handle, to.handle, to.offset, from.handle, from.offset, count);
  } catch (error) {
    throw fromNative(error);
  }
}

/** `stream.fill`. Without `bytes` all of `destination`. */
export function fill(
  stream: Stream,
  destination: Tensor | DeviceBuffer,
  byte: number,
  bytes?: number,
): void {
  const api = 'stream.fill';
  const range = fillRange(api, stream.device, destination, byte, bytes);
  const { to } = range;
  const handle = stream.submit(api);
  guarded(() => environment().binding.fill(handle, to.handle, to.offset, byte, range.bytes));
}

/** `stream.write`. A tensor takes exactly its bytes, a buffer at most its bytes. */
export function write(
  stream: Stream,
  destination: Tensor | DeviceBuffer,
  source: ArrayBufferView,
): void {
  const api = 'stream.write';
  const bytes = viewBytes(api, 'source', source);
  const to = placeOf(api, 'destination', destination, stream.device);
  checkSize(api, 'source', bytes, 'destination', destination, to.bytes);
  const handle = stream.submit(api);
  guarded(() => environment().binding.write(handle, to.handle, to.offset, bytesOf(source)));
}

/**
 * `stream.read`. A tensor gives exactly its bytes, a buffer as many as `destination` takes. Bytes
 * for pinned memory go there directly, others through memory of the runtime.
 */
export async function read(
  stream: Stream,
  source: Tensor | DeviceBuffer,
  destination: ArrayBufferView,
): Promise<void> {
  const api = 'stream.read';
  const bytes = viewBytes(api, 'destination', destination);
  const from = placeOf(api, 'source', source, stream.device);
  checkSize(api, 'destination', bytes, 'source', source, from.bytes);
  const handle = stream.submit(api);
  const { binding, completions } = environment();
  const host = HostBuffer.owning(destination.buffer);
  let staged = 0;
  await completions.wait((token) => {
    if (host !== undefined && copyToHost(stream, handle, host, destination, from)) {
      guarded(() => binding.streamSynchronize(handle, token));
      return;
    }
    staged = token;
    guarded(() => binding.read(handle, from.handle, from.offset, bytes, token));
  });
  if (viewBytes(api, 'destination', destination) !== bytes) {
    const detail = '`destination` was resized while the copy was under way';
    throw new ArgumentError({ api, detail });
  }
  if (staged !== 0) guarded(() => binding.takeStaged(staged, bytesOf(destination)));
  checkRacesBehind(stream.runtime, api);
}

// False where the bytes have to be staged: the memory is another runtime's, or the stream is
// captured, which is refused there.
function copyToHost(
  stream: Stream,
  handle: Handle,
  host: HostBuffer,
  destination: ArrayBufferView,
  from: Place,
): boolean {
  if (stream.captureStatus !== 'none') return false;
  const { byteOffset, byteLength } = destination;
  const to = host.use('stream.read');
  try {
    environment().binding.copy(handle, to, byteOffset, from.handle, from.offset, byteLength);
    return true;
  } catch (error) {
    if (isMismatch(error)) return false;
    throw fromNative(error);
  }
}

function isMismatch(error: unknown): boolean {
  return typeof error === 'object' && error !== null && Reflect.get(error, 'code') === mismatch;
}

const mismatch = 'CRT_BACKEND_MISMATCH';

function checkSize(
  api: string,
  host: string,
  hostBytes: number,
  memory: string,
  target: Tensor | DeviceBuffer,
  targetBytes: number,
): void {
  const isTensor = 'dtype' in target;
  if (isTensor ? hostBytes === targetBytes : hostBytes <= targetBytes) return;
  const what = isTensor ? target.describe() : 'the buffer';
  const limit = isTensor ? 'exactly' : 'at most';
  const detail = `\`${host}\` has ${hostBytes} bytes, expected ${limit} the ${targetBytes} of \`${memory}\` (${what})`;
  throw new ArgumentError({ api, detail });
}
