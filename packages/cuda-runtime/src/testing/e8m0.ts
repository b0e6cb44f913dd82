import { f32Bits } from './float-bits.js';

/**
 * E8M0 bits of positive f32 values: the nearest power of two, ties to the even exponent byte.
 * NaN becomes 255; zero and negative values have no E8M0 and are refused.
 */
export function f32ToE8m0(values: Float32Array): Uint8Array {
  return Uint8Array.from(values, (value) => {
    if (Number.isNaN(value)) return 255;
    if (value <= 0) throw new RangeError(`f32ToE8m0: ${value} is not positive`);
    return nearestPower(value);
  });
}

/** The f32 values of E8M0 bits: 2^(b − 127); 255 is NaN. */
export function e8m0ToF32(patterns: Uint8Array): Float32Array {
  return Float32Array.from(patterns, (pattern) =>
    pattern === 255 ? Number.NaN : 2 ** (pattern - 127),
  );
}

function nearestPower(value: number): number {
  const field = (f32Bits(value) >>> 23) & 0xff;
  const low = 2 ** (Math.max(field, 1) - 127) > value ? field : Math.max(field, 1);
  const ratio = value / 2 ** (low - 127);
  const isUp = ratio > 1.5 || (ratio === 1.5 && low % 2 === 1);
  return Math.min(254, isUp ? low + 1 : low);
}
