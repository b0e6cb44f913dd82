/** Exact value of an E4M3 byte (bias 7, no infinity, 0x7f and 0xff are NaN). */
export function referenceE4m3(code: number): number {
  const exponent = (code >> 3) & 15;
  const mantissa = code & 7;
  const sign = code & 0x80 ? -1 : 1;
  if (exponent === 15 && mantissa === 7) return Number.NaN;
  if (exponent === 0) return sign * mantissa * 2 ** -9;
  return sign * (1 + mantissa / 8) * 2 ** (exponent - 7);
}

/** Exact values of MXFP8 data: rows of `columns` elements, one E8M0 scale per 32 of them. */
export function referenceDequantize(codes: Uint8Array, scales: Uint8Array): Float32Array {
  return Float32Array.from(codes, (code, i) => {
    const scale = scales[Math.floor(i / 32)] ?? 255;
    return scale === 255 ? Number.NaN : referenceE4m3(code) * 2 ** (scale - 127);
  });
}
