/**
 * Exact conversions between f32 and the narrow formats; every rounding is to nearest, ties to even.
 */

const single = new Float32Array(1);
const bits = new Uint32Array(single.buffer);

/** The bits of `value` rounded to f32. */
export function f32Bits(value: number): number {
  single[0] = value;
  return bits[0] ?? 0;
}

/** The f32 with these bits. */
export function f32FromBits(pattern: number): number {
  bits[0] = pattern;
  return single[0] ?? 0;
}

/** Describes a binary float of at most 16 bits. */
export interface NarrowFormat {
  readonly exponentBits: number;
  readonly mantissaBits: number;
  /** Largest finite value. */
  readonly max: number;
  /** Bits, without sign, of what is too large after rounding. */
  readonly overflow: number;
  readonly nan: number;
}

/**
 * Bits of `value` (an f32) in a narrow format. Scaling by powers of two is exact in f64, so the
 * only rounding is the one of `roundEven`.
 */
export function encodeNarrow(value: number, format: NarrowFormat): number {
  const { exponentBits, mantissaBits, max } = format;
  const sign =
    Object.is(Math.sign(value), -0) || value < 0 ? 1 << (exponentBits + mantissaBits) : 0;
  if (Number.isNaN(value)) return format.nan;
  const magnitude = Math.abs(value);
  const bias = 2 ** (exponentBits - 1) - 1;
  const least = 1 - bias;
  const exponent = Math.max(least, exponentOf(magnitude));
  const steps = roundEven(magnitude / 2 ** (exponent - mantissaBits));
  const rounded = steps * 2 ** (exponent - mantissaBits);
  if (rounded > max) return sign | format.overflow;
  // A carry into the next exponent, and subnormals, come out right because the fields are adjacent.
  const pattern = (exponent - least) * 2 ** mantissaBits + steps;
  return sign | pattern;
}

/** The value of a pattern that is finite in the format. */
export function decodeNarrow(pattern: number, format: NarrowFormat): number {
  const { exponentBits, mantissaBits } = format;
  const sign = pattern >> (exponentBits + mantissaBits) === 0 ? 1 : -1;
  const exponent = (pattern >> mantissaBits) & (2 ** exponentBits - 1);
  const mantissa = pattern & (2 ** mantissaBits - 1);
  const least = 2 - 2 ** (exponentBits - 1);
  if (exponent === 0) return sign * mantissa * 2 ** (least - mantissaBits);
  return sign * (2 ** mantissaBits + mantissa) * 2 ** (least + exponent - 1 - mantissaBits);
}

function exponentOf(magnitude: number): number {
  const field = (f32Bits(magnitude) >>> 23) & 0xff;
  return field === 0 ? -149 : field - 127;
}

function roundEven(value: number): number {
  const low = Math.floor(value);
  const rest = value - low;
  if (rest !== 0.5) return rest < 0.5 ? low : low + 1;
  return low % 2 === 0 ? low : low + 1;
}
