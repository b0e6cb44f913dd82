// MXFP8 in plain float64: the rules of docs/quantize-mxfp8.md, written the slow way.

/** Elements that share a scale. */
const blockSize = 32;

/** Value of an E4M3 code. */
export function decodeE4m3(code: number): number {
  const sign = code >= 128 ? -1 : 1;
  const exponent = (code >> 3) & 15;
  const mantissa = code & 7;
  if ((code & 127) === 127) return Number.NaN;
  if (exponent === 0) return sign * mantissa * 2 ** -9;
  return sign * (1 + mantissa / 8) * 2 ** (exponent - 7);
}

const magnitudes = Array.from({ length: 127 }, (_, code) => decodeE4m3(code));

/** The nearest E4M3 code, ties to the even code, saturating; NaN gives 0x7f. */
export function encodeE4m3(value: number): number {
  if (Number.isNaN(value)) return 0x7f;
  const sign = value < 0 || Object.is(value, -0) ? 0x80 : 0;
  const magnitude = Math.abs(value);
  let best = 0;
  for (let code = 1; code < magnitudes.length; code += 1) {
    const distance = Math.abs((magnitudes[code] ?? 0) - Math.min(magnitude, 448));
    const held = Math.abs((magnitudes[best] ?? 0) - Math.min(magnitude, 448));
    if (distance < held || (distance === held && code % 2 === 0)) best = code;
  }
  return sign | best;
}

/** Value of an E8M0 byte. */
export function decodeE8m0(byte: number): number {
  return byte === 255 ? Number.NaN : 2 ** (byte - 127);
}

/** Scale rules of the format. */
export type ScaleMode = 'rceil' | 'floor' | 'ceil' | 'even';

/** The scale byte of a block whose largest magnitude is `amax`, finite. */
export function scaleByte(amax: number, mode: ScaleMode): number {
  if (amax === 0) return 0;
  return Math.min(254, Math.max(0, exponentOf(amax, mode) + 127));
}

function exponentOf(amax: number, mode: ScaleMode): number {
  switch (mode) {
    case 'floor':
      return floorLog2(amax) - 8;
    case 'ceil':
      return ceilLog2(amax) - 8;
    case 'even':
      return floorLog2(amax + 2 ** (floorLog2(amax) - 4)) - 8;
    case 'rceil':
      return ceilLog2(amax / 448);
  }
}

function floorLog2(x: number): number {
  let k = Math.floor(Math.log2(x));
  while (2 ** k > x) k -= 1;
  while (2 ** (k + 1) <= x) k += 1;
  return k;
}

function ceilLog2(x: number): number {
  const k = floorLog2(x);
  return 2 ** k === x ? k : k + 1;
}

/** A matrix in MXFP8. */
export interface Mxfp8Bytes {
  readonly data: Uint8Array;
  readonly scales: Uint8Array;
}

/** Quantises consecutive blocks of 32. */
export function referenceQuantize(
  x: Float32Array,
  mode: ScaleMode = 'rceil',
  infPolicy: 'saturate' | 'nan' = 'saturate',
): Mxfp8Bytes {
  const data = new Uint8Array(x.length);
  const scales = new Uint8Array(x.length / blockSize);
  for (let block = 0; block < scales.length; block += 1) {
    const values = x.subarray(block * blockSize, (block + 1) * blockSize);
    const amax = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const isNan = Number.isNaN(amax) || (amax === Infinity && infPolicy === 'nan');
    const byte = isNan ? 255 : amax === Infinity ? 254 : scaleByte(amax, mode);
    scales[block] = byte;
    const codes = isNan
      ? new Uint8Array(blockSize).fill(0x7f)
      : Uint8Array.from(values, (value) => encodeE4m3(value * 2 ** (127 - byte)));
    data.set(codes, block * blockSize);
  }
  return { data, scales };
}
