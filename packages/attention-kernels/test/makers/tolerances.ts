// How far a result may be from the float64 reference, with the reason.

/**
 * Attention outputs are averages of values of size 2 … 8. fp32: scores of size 20 carry a few
 * roundings (4e-6 in all), which exp passes on. bf16: the same, and one rounding of the output, at
 * most 2^-8 of it.
 */
export const attentionTolerance = {
  f32: { relative: 1e-5, absolute: 2e-5 },
  bf16: { relative: 2 ** -8, absolute: 2e-5 },
} as const;

/**
 * Norm and rotation: a sum of squares, a root and three products in fp32; near zero two rotated
 * terms of size 15 cancel, which leaves their roundings. bf16: one rounding of the output more.
 */
export const ropeTolerance = {
  f32: { relative: 1e-6, absolute: 4e-6 },
  bf16: { relative: 2 ** -8, absolute: 4e-6 },
} as const;

/** Dot products of up to 128 terms of size 4 … 16 in fp32; the sum may cancel. */
export const scoreTolerance = { relative: 1e-6, absolute: 2e-5 } as const;
