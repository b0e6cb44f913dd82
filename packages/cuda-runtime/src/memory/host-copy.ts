import { wrongKind } from '../arguments/faults.js';
import { ArgumentError } from '../errors/argument-error.js';

/** The bytes behind any view, without copying. */
export function bytesOf(view: ArrayBufferView): Uint8Array {
  if (view instanceof Uint8Array) return view;
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

/**
 * The size of a view.
 * @throws ArgumentError unless `value` is a typed array or DataView whose memory is there
 */
export function viewBytes(api: string, argument: string, value: unknown): number {
  if (!ArrayBuffer.isView(value)) {
    throw wrongKind(api, argument, value, 'a typed array or DataView');
  }
  try {
    const bytes = value.byteLength; // throws for a DataView without memory
    if (bytes === 0) new Uint8Array(value.buffer, value.byteOffset, 0); // throws when detached
    return bytes;
  } catch (cause) {
    const detail = `the memory of \`${argument}\` was transferred or shrunk away`;
    const hint = 'Keep the array until the call is done with it';
    throw new ArgumentError({ api, detail, hint, cause });
  }
}
