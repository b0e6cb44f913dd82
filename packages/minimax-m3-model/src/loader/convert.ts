/** Exact conversions between storage types, for the few weights that cannot stay as they are. */

import { mxBlock } from './matrix-part.js';

/** Values of the 256 E4M3 bytes (finite-only: 0x7F and 0xFF are NaN). */
const e4m3Values = Float32Array.from({ length: 256 }, (_, byte) => {
  const sign = byte & 0x80 ? -1 : 1;
  const exponent = (byte >> 3) & 15;
  const mantissa = byte & 7;
  if ((byte & 0x7f) === 0x7f) return Number.NaN;
  if (exponent === 0) return sign * mantissa * 2 ** -9;
  return sign * (1 + mantissa / 8) * 2 ** (exponent - 7);
});

/** Widens bf16 bytes. */
export function widenBf16(bytes: Uint8Array): Float32Array {
  const stored = new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 2);
  const bits = new Uint32Array(stored.length);
  for (let i = 0; i < stored.length; i++) bits[i] = (stored[i] ?? 0) << 16;
  return new Float32Array(bits.buffer);
}

/** Widens rows of MXFP8: element times 2^(scale - 127), exact but for overflow. */
export function widenMxfp8(elements: Uint8Array, scales: Uint8Array): Float32Array {
  const values = new Float32Array(elements.length);
  for (let block = 0; block < scales.length; block++) {
    const byte = scales[block] ?? 0;
    const factor = byte === 255 ? Number.NaN : 2 ** (byte - 127);
    const end = (block + 1) * mxBlock;
    for (let i = block * mxBlock; i < end; i++) {
      values[i] = (e4m3Values[elements[i] ?? 0] ?? 0) * factor;
    }
  }
  return values;
}

/** Rounds to bf16, nearest even. Exact for dequantised MXFP8, which has four significant bits. */
export function roundToBf16(values: Float32Array): Uint16Array {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const rounded = new Uint16Array(values.length);
  for (let i = 0; i < bits.length; i++) {
    const b = bits[i] ?? 0;
    const isNotNumber = (b & 0x7fffffff) > 0x7f800000;
    rounded[i] = isNotNumber ? (b >>> 16) | 0x40 : (b + 0x7fff + ((b >>> 16) & 1)) >>> 16;
  }
  return rounded;
}
