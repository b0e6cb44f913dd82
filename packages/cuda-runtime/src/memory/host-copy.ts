import { ArgumentError } from '../errors/argument-error.js';

/** The bytes behind any view, without copying. */
export function bytesOf(view: ArrayBufferView): Uint8Array {
  if (view instanceof Uint8Array) return view;
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

/** @throws ArgumentError unless `value` is a typed array or DataView */
export function checkView(api: string, argument: string, value: unknown): void {
  if (ArrayBuffer.isView(value)) return;
  const detail = `\`${argument}\` is ${String(value)}, expected a typed array or DataView`;
  throw new ArgumentError({ api, detail });
}
