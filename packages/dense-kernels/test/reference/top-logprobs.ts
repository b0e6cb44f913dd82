import { safeLogit } from './sampling.js';

/** Ids of a row by descending logit, ties to the lower id. */
export function referenceBestIds(logits: Float32Array, count: number): number[] {
  const safe = Array.from(logits, safeLogit);
  return [...safe.keys()]
    .sort((a, b) => (safe[a] === safe[b] ? a - b : (safe[b] ?? 0) - (safe[a] ?? 0)))
    .slice(0, count);
}
