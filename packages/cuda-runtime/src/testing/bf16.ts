import { f32Bits, f32FromBits } from './float-bits.js';

/** bf16 bits of f32 values; to nearest, ties to even; NaN stays NaN. */
export function f32ToBf16(values: Float32Array): Uint16Array {
  return Uint16Array.from(values, bf16Bits);
}

/** The f32 values of bf16 bits; exact. */
export function bf16ToF32(patterns: Uint16Array): Float32Array {
  return Float32Array.from(patterns, (pattern) => f32FromBits(pattern << 16));
}

/** `x` rounded to f32, then to bf16. */
export function roundBf16(x: number): number {
  return f32FromBits(bf16Bits(x) << 16);
}

function bf16Bits(value: number): number {
  const bits = f32Bits(value);
  if (Number.isNaN(value)) return (bits >>> 16) | 0x40;
  return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
}
