// Tolerances, each with its reason. One place, so that nobody widens one to get a test green.

/**
 * Half a unit in the last place of bf16, relative to a significand of 1: one rounding to nearest.
 */
export const bf16Rounding = 2 ** -8;

/** The same of f32. */
export const f32Rounding = 2 ** -24;

/** Relative error that one rounding to `dtype` may add to an fp32 result. */
export function roundingOf(dtype: 'bf16' | 'f32'): number {
  return dtype === 'bf16' ? bf16Rounding : f32Rounding;
}

/**
 * RMSNorm inside fp32: three roundings of the element, plus half of the error of a sum of squares
 * that grows like the root of the terms in one of 16 lanes (measured 4e-7 at 6144 columns).
 */
export const rmsNormInside = 2e-6;

/** Log-softmax: fp32 exponentials within 1 ulp, summed by 256 in fp32, logarithm in double. */
export const logprobAbsolute = 1e-6;

/** Share of the distribution by which fp32 weights may move a border between two ids. */
export const cdfShift = 1e-6;

/**
 * Linear, relative to the sum of the terms' magnitudes: the rigorous bound of fp32 summation in at
 * least 8 lanes, each term rounded once or not at all.
 */
export function linearInside(terms: number): number {
  return (terms / 8 + 5) * f32Rounding;
}
