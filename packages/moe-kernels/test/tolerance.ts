import type { Tolerance } from '@altstream/cuda-runtime/testing';

/**
 * fp32 sums of a few thousand products are off by about 1e-6 of the typical result; SwiGLU can
 * magnify that tenfold. bf16 results are rounded once more, and next to a tie the sum may fall to
 * the other side: one unit in the last place, 2^-8.
 */
export function activationTolerance(expected: readonly number[], dtype: 'bf16' | 'f32'): Tolerance {
  const rms = Math.sqrt(expected.reduce((sum, v) => sum + v * v, 0) / (expected.length || 1));
  return { absolute: 2e-5 * rms, relative: dtype === 'bf16' ? 2 ** -8 : 2e-5 };
}

/**
 * 1 − 2⟨x, y⟩ / (‖x‖² + ‖y‖²): 0 for equal vectors; the measure of the field for expert kernels.
 */
export function calcDiff(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  let product = 0;
  let squares = 0;
  for (let i = 0; i < expected.length; i += 1) {
    const [x, y] = [actual[i] ?? Number.NaN, expected[i] ?? Number.NaN];
    product += x * y;
    squares += x * x + y * y;
  }
  return squares === 0 ? 0 : 1 - (2 * product) / squares;
}
