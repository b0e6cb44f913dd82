import { referenceDown } from './experts-down.js';
import { type ReferenceSwiglu, type ReferenceWeights, referenceGateUp } from './experts-gate-up.js';

/** What `referenceRoutedExperts` needs; ids outside of [0, experts) are skipped. */
export interface ReferenceRouting {
  readonly x: Float32Array;
  readonly ids: readonly number[];
  readonly weights: ArrayLike<number>;
  readonly k: number;
  readonly scale?: number;
}

/** The routed experts of all tokens: y and h2 rounded by `round`, float64 sum in slot order. */
export function referenceRoutedExperts(
  { x, ids, weights: routerWeights, k, scale = 1 }: ReferenceRouting,
  weights: ReferenceWeights,
  swiglu: ReferenceSwiglu,
  round: (value: number) => number,
): number[] {
  const { hidden, intermediate, experts } = weights;
  const sums = new Float64Array(x.length);
  ids.forEach((id, slot) => {
    if (id < 0 || id >= experts) return;
    const token = Math.floor(slot / k);
    const row = x.subarray(token * hidden, (token + 1) * hidden);
    const y = Float32Array.from({ length: intermediate }, (_, c) =>
      round(referenceGateUp(row, id, c, weights, swiglu)),
    );
    for (let c = 0; c < hidden; c += 1) {
      const h2 = round(referenceDown(y, id, c, weights));
      sums[token * hidden + c] = (sums[token * hidden + c] ?? 0) + (routerWeights[slot] ?? 0) * h2;
    }
  });
  return Array.from(sums, (sum) => round(sum * scale));
}
