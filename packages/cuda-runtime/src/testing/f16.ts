import { decodeNarrow, encodeNarrow, type NarrowFormat } from './float-bits.js';

const format: NarrowFormat = {
  exponentBits: 5,
  mantissaBits: 10,
  max: 65_504,
  overflow: 0x7c00,
  nan: 0x7e00,
};

/** f16 bits of f32 values; to nearest, ties to even; too large becomes infinity. */
export function f32ToF16(values: Float32Array): Uint16Array {
  return Uint16Array.from(values, (value) => encodeNarrow(value, format));
}

/** The f32 values of f16 bits; exact. */
export function f16ToF32(patterns: Uint16Array): Float32Array {
  return Float32Array.from(patterns, (pattern) => {
    if ((pattern & 0x7c00) !== 0x7c00) return decodeNarrow(pattern, format);
    if ((pattern & 0x3ff) !== 0) return Number.NaN;
    return pattern & 0x8000 ? -Infinity : Infinity;
  });
}
