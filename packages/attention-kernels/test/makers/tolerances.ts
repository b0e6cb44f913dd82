// How far a result may be from the float64 reference, with the reason.

/**
 * Attention outputs are averages of values of size 2. fp32: scores of size 10 carry a few roundings
 * (1e-6), which exp passes on. bf16: the same, and one rounding of the output (2^-9 relative).
 */
export const attentionTolerance = {
  f32: { relative: 2e-5, absolute: 2e-5 },
  bf16: { relative: 2 ** -8, absolute: 1e-4 },
} as const;

/**
 * Norm and rotation: a sum of squares, a root and three products in fp32; near zero two rotated
 * terms cancel, which leaves the roundings of terms of size 8.
 */
export const ropeTolerance = {
  f32: { relative: 2e-6, absolute: 4e-6 },
  bf16: { relative: 2 ** -8, absolute: 4e-6 },
} as const;

/** Dot products of up to 128 terms of size 4 in fp32; the sum may cancel. */
export const scoreTolerance = { relative: 2e-6, absolute: 2e-5 } as const;
