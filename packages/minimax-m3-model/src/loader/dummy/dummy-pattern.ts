/** Short runs of random values in the types of weights, to be laid out many times on a device. */

import type { DType } from '@altstream/cuda-runtime';
import { roundToBf16 } from '../convert.js';

/** Largest finite E4M3 value. */
const e4m3Max = 448;

/** E4M3 bytes of the 127 magnitudes that are numbers, ascending. */
const e4m3Magnitudes = Float32Array.from({ length: 127 }, (_, byte) => {
  const exponent = byte >> 3;
  const mantissa = byte & 7;
  return exponent === 0 ? mantissa * 2 ** -9 : (1 + mantissa / 8) * 2 ** (exponent - 7);
});

/** Types that a pattern can have. */
export type PatternDType = Extract<DType, 'f32' | 'bf16' | 'e4m3' | 'e8m0'>;

/**
 * Bytes of random values. `f32` and `bf16` lie evenly in [-width / 2, width / 2); `e4m3` evenly in
 * ±448; `e8m0` are the one or two largest powers of two that keep such elements in that interval.
 *
 * @param seed any integer; the same one gives the same bytes
 */
export function makePattern(
  dtype: PatternDType,
  width: number,
  bytes: number,
  seed: number,
): Uint8Array {
  if (dtype === 'e4m3') return Uint8Array.from(randomBytes(bytes, seed), e4m3FromRandom);
  if (dtype === 'e8m0') {
    const largest = 127 + Math.floor(Math.log2(width / 2 / e4m3Max));
    return Uint8Array.from(randomBytes(bytes, seed), (byte) => largest - (byte & 1));
  }
  const elements = bytes / (dtype === 'f32' ? 4 : 2);
  const values = Float32Array.from(randomWords(elements, seed), (word) => {
    return ((word >>> 8) / 2 ** 24 - 0.5) * width;
  });
  const stored = dtype === 'f32' ? values : roundToBf16(values);
  return new Uint8Array(stored.buffer, stored.byteOffset, bytes);
}

/** Places in a pattern where a tensor may begin, in bytes: whole elements, and fast to copy. */
export const patternAlignment = 256;

/** A number of 32 bits that depends on all bits of both. */
export function mixed(a: number, b: number): number {
  let x = (Math.imul(a, 0x9e3779b9) ^ b) >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

/** A 32-bit hash of a name. */
export function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** 128 steps of even distance over 0 … 448, each rounded to an element; and a sign. */
const e4m3Table = Uint8Array.from({ length: 256 }, (_, random) => {
  const wanted = ((random & 0x7f) / 127) * e4m3Max;
  const above = e4m3Magnitudes.findIndex((magnitude) => magnitude >= wanted);
  const low = e4m3Magnitudes[above - 1] ?? 0;
  const high = e4m3Magnitudes[above] ?? e4m3Max;
  const nearest = above > 0 && wanted - low < high - wanted ? above - 1 : above;
  return (random & 0x80) | nearest;
});

function e4m3FromRandom(random: number): number {
  return e4m3Table[random] ?? 0;
}

function randomWords(count: number, seed: number): Uint32Array {
  const words = new Uint32Array(count);
  for (let i = 0; i < count; i++) words[i] = mixed(i + 1, seed);
  return words;
}

function randomBytes(count: number, seed: number): Uint8Array {
  return new Uint8Array(randomWords(Math.ceil(count / 4), seed).buffer, 0, count);
}
