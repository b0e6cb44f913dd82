import { decodeE4m3, decodeE8m0, type Mxfp8Bytes } from './quantize-mxfp8.js';

/** Elements that share a scale. */
const blockSize = 32;

/** Widens consecutive blocks of 32. */
export function referenceDequantize({ data, scales }: Mxfp8Bytes): Float64Array {
  return Float64Array.from(
    data,
    (code, i) => decodeE4m3(code) * decodeE8m0(scales[Math.floor(i / blockSize)] ?? 255),
  );
}
