import { dot, type ReferenceWeights } from './experts-gate-up.js';

/** Column `c` of h2 of one row of y and one expert in float64, not rounded. */
export function referenceDown(
  y: Float32Array,
  expert: number,
  c: number,
  weights: ReferenceWeights,
): number {
  return dot(weights.w2Row(expert, c), y);
}
