/** Storage formats of a checkpoint: bf16, and MXFP8 (E4M3 elements with one E8M0 scale per 32). */

/** Elements that share one scale, along the input dimension. */
export const MX_BLOCK = 32;

const E4M3_MAX = 0x7e;
const INVERSE_448 = Math.fround(1 / 448);
const scratch = new Float32Array(1);
const scratchBits = new Uint32Array(scratch.buffer);

/** Rounds to bf16, nearest even. NaN stays NaN. */
export function toBf16(values: Float32Array): Uint16Array {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const rounded = new Uint16Array(values.length);
  for (let i = 0; i < bits.length; i++) {
    const b = bits[i] ?? 0;
    const isNotNumber = (b & 0x7fffffff) > 0x7f800000;
    rounded[i] = isNotNumber ? (b >>> 16) | 0x40 : (b + 0x7fff + ((b >>> 16) & 1)) >>> 16;
  }
  return rounded;
}

/** Widens bf16, exactly. */
export function fromBf16(values: Uint16Array): Float32Array {
  const bits = new Uint32Array(values.length);
  for (let i = 0; i < values.length; i++) bits[i] = (values[i] ?? 0) << 16;
  return new Float32Array(bits.buffer);
}

/** One number to E4M3 (finite-only): nearest even, saturating at ±448, NaN to 0x7F. */
export function toE4m3(value: number): number {
  scratch[0] = value;
  const bits = scratchBits[0] ?? 0;
  const sign = (bits >>> 24) & 0x80;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return 0x7f;
  if (magnitude < 0x3c800000) {
    // Below 2^-6: subnormals count multiples of 2^-9. Adding 2^23 in fp32 rounds to nearest even.
    const multiples = Math.fround(Math.abs(value) * 512 + 8388608) - 8388608;
    return sign | multiples;
  }
  const rounded = (magnitude + 0x7ffff + ((magnitude >>> 20) & 1)) >>> 20;
  return sign | Math.min(rounded - (120 << 3), E4M3_MAX);
}

/**
 * The scale byte of a block by the RCEIL rule: 2^(byte-127) is the largest magnitude over 448,
 * rounded up to a power of two, so that no element saturates.
 *
 * @param amax largest magnitude of the block
 */
export function rceilScale(amax: number): number {
  if (Number.isNaN(amax)) return 255;
  scratch[0] = Math.fround(amax * INVERSE_448);
  const bits = scratchBits[0] ?? 0;
  const exponent = bits >>> 23;
  const mantissa = bits & 0x7fffff;
  if (exponent === 0) return mantissa > 0x400000 ? 1 : 0;
  return Math.min(exponent + (mantissa === 0 ? 0 : 1), 254);
}

/** A matrix in MXFP8. */
export interface Mxfp8Values {
  /** E4M3 bytes, [rows, columns]. */
  readonly elements: Uint8Array;
  /** E8M0 bytes, [rows, columns / 32]. */
  readonly scales: Uint8Array;
}

/**
 * Quantises rows in blocks of 32 columns.
 *
 * @param values row-major; the length of a row must be a multiple of 32, so blocks never cross rows
 */
export function quantizeMxfp8(values: Float32Array): Mxfp8Values {
  const elements = new Uint8Array(values.length);
  const scales = new Uint8Array(values.length / MX_BLOCK);
  for (let block = 0; block < scales.length; block++) {
    const start = block * MX_BLOCK;
    const scale = rceilScale(maxMagnitude(values, start));
    scales[block] = scale;
    const factor = 2 ** (127 - scale);
    for (let i = start; i < start + MX_BLOCK; i++) {
      elements[i] = scale === 255 ? 0x7f : toE4m3((values[i] ?? 0) * factor);
    }
  }
  return { elements, scales };
}

/** Largest magnitude of a block; NaN if one is in it. */
function maxMagnitude(values: Float32Array, start: number): number {
  let amax = 0;
  for (let i = start; i < start + MX_BLOCK; i++) {
    const magnitude = Math.abs(values[i] ?? 0);
    if (!(magnitude <= amax)) amax = magnitude;
    if (Number.isNaN(amax)) return amax;
  }
  return amax;
}
