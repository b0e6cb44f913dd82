/** What one rounding of each weight changes: how ill-conditioned a model is. */

import { seededRandom } from '@altstream/cuda-runtime/testing';
import type { ReferenceTensor, ReferenceWeights } from './weights.js';

/**
 * The weights, each moved by at most half a unit in the last place of fp32, reproducible by seed.
 */
export function roundedWeights(weights: ReferenceWeights, seed: number): ReferenceWeights {
  const random = seededRandom(seed);
  const cache = new Map<string, ReferenceTensor>();
  const move = (value: number) => value * (1 + random.uniform(-1, 1) * 2 ** -24);
  const lookUp = (name: string): ReferenceTensor => {
    const known = cache.get(name);
    if (known) return known;
    const { shape, values } = weights(name);
    const moved = { shape, values: Float64Array.from(values, move) };
    cache.set(name, moved);
    return moved;
  };
  return Object.assign(lookUp, { has: (name: string) => weights.has(name) });
}
