import { decodeNarrow, encodeNarrow, type NarrowFormat } from './float-bits.js';

// No infinity; 0x7f is NaN; conversion saturates, as the MX specification and cuBLAS do.
const format: NarrowFormat = {
  exponentBits: 4,
  mantissaBits: 3,
  max: 448,
  overflow: 0x7e,
  nan: 0x7f,
};

/** E4M3 bits of f32 values; to nearest, ties to even; saturates to ±448; NaN becomes 0x7f. */
export function f32ToE4m3(values: Float32Array): Uint8Array {
  return Uint8Array.from(values, (value) => encodeNarrow(value, format));
}

/** The f32 values of E4M3 bits; exact. */
export function e4m3ToF32(patterns: Uint8Array): Float32Array {
  return Float32Array.from(patterns, (pattern) =>
    (pattern & 0x7f) === 0x7f ? Number.NaN : decodeNarrow(pattern, format),
  );
}
