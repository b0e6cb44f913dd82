import type { SwigluConfig } from '../../src/index.js';

/** One activation; expected values are of the specification, or NaN. */
export interface SwigluCase {
  readonly name: string;
  readonly gate: number;
  readonly up: number;
  readonly swiglu?: SwigluConfig;
  readonly expected: number;
}

function at(gate: number, up: number, expected: number, name = ''): SwigluCase {
  return { name: `gate ${gate}, up ${up}${name}`, gate, up, expected };
}

/** Both sides of the clamp at 7, the gate without a lower clamp. */
export const swigluCases: readonly SwigluCase[] = [
  at(10, -10, -41.9997188),
  at(0, 0, 0),
  at(1, 0, 0.84579577),
  at(1, 1, 1.6915915),
  at(-20, 3, -1.3173641e-13),
  at(-20, 0, -20 / (1 + Math.exp(34.04)), ': the gate is not clamped below'),
  at(7, 7, 55.999625),
  at(-8, -8, 5.8598573e-5),
  at(100, 100, 55.999625),
  at(10, 0, 6.9999533),
  at(-1, -10, 0.9252254),
  at(2, -1, 0),
  {
    ...at(100, 100, 10_000, ', plain SwiGLU without clamp'),
    swiglu: { alpha: 1, beta: 0, limit: Number.POSITIVE_INFINITY },
  },
  { ...at(3, 3, 1.9353, ', limit 1.5'), swiglu: { limit: 1.5 }, expected: clamped(1.5) },
];

/** min(g, l) · sigmoid(1.702 · min(g, l)) · (l + 1). */
function clamped(limit: number): number {
  return (limit / (1 + Math.exp(-1.702 * limit))) * (limit + 1);
}
