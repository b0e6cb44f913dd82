/** How far bf16 may be from fp32: model specification, 10.4. */

import { expect } from 'vitest';
import { logprobs, worst } from './golden.js';
import { argmax } from './session.js';

/**
 * What honest bf16 runs of transformers reach against the goldens: mean 0.024 to 0.031, median
 * 0.010 to 0.012, 95 to 98 % of the best tokens. A rounding can flip an expert or a block, which
 * moves a whole position by about 1, so each number says something of its own:
 *
 * - median, 95 % point: rounding noise. Of a normal distribution the 95 % point is three medians;
 *   five leave room for positions whose noise is larger.
 * - flipped: positions with a difference that rounding noise does not reach. One or two in a
 *   hundred in the reference; 5 % allows four of the 90 of T32.
 * - argmax: two of those 90 below the reference's worst.
 * - mean, flips included: only where there are enough positions, since three flips among 90 double
 *   it.
 */
const allowed = { median: 0.012, p95: 0.06, flipped: 0.05, mean: 0.031, argmax: 0.93 };
const flip = 0.3;
const enoughPositions = 500;

/** What fp32 gives at a position. */
export interface Best {
  /** The best five, the best one first, and their log-probabilities. */
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
}

/** The best five of fp32 logits. */
export function bestOf(logits: Float32Array): Best {
  const all = logprobs(logits);
  const ids = [...all.keys()].sort((a, b) => (all[b] ?? 0) - (all[a] ?? 0)).slice(0, 5);
  return { ids, logprobs: ids.map((id) => all[id] ?? 0) };
}

/** The logits of a bf16 run are as near to fp32 as those of the reference. */
export function expectBfloat16Noise(rows: readonly Float32Array[], best: readonly Best[]): void {
  const differences: number[] = [];
  let agreed = 0;
  let flipped = 0;
  for (const [position, row] of rows.entries()) {
    const all = logprobs(row);
    const { ids, logprobs: expected } = best[position] ?? { ids: [], logprobs: [] };
    const own = ids.map((id) => all[id] ?? 0);
    differences.push(...own.map((value, i) => Math.abs(value - (expected[i] ?? 0))));
    if (worst(own, expected) > flip) flipped++;
    if (argmax(row) === ids[0]) agreed++;
  }
  differences.sort((a, b) => a - b);
  const quantile = (share: number) => differences[Math.floor(share * differences.length)];
  expect(rows).toHaveLength(best.length);
  expect(quantile(0.5)).toBeLessThan(allowed.median);
  expect(quantile(0.95)).toBeLessThan(allowed.p95);
  expect(flipped / rows.length).toBeLessThan(allowed.flipped);
  expect(agreed / rows.length).toBeGreaterThan(allowed.argmax);
  if (rows.length > enoughPositions) {
    const mean = differences.reduce((a, b) => a + b, 0) / differences.length;
    expect(mean).toBeLessThan(allowed.mean);
  }
  // fp32 in disguise would be nearer by three orders of magnitude.
  expect(quantile(0.5)).toBeGreaterThan(0.002);
}
