/** Reproducible random numbers for tests: the same seed gives the same numbers everywhere. */
export interface SeededRandom {
  /** In [lo, hi). */
  uniform(lo: number, hi: number): number;
  /** Standard normal. */
  normal(): number;
  /** Whole, in [lo, hiExclusive). */
  integer(lo: number, hiExclusive: number): number;
  /** `n` normal numbers times `scale` (default 1). */
  floats(n: number, scale?: number): Float32Array;
}

/** Starts a sequence. */
export function seededRandom(seed: number): SeededRandom {
  const next = mulberry32(seed);
  const uniform = (lo: number, hi: number) => lo + (hi - lo) * next();
  // Box and Muller; 1 − next() is never 0, so the logarithm is finite.
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  return {
    uniform,
    normal,
    integer: (lo, hiExclusive) => Math.floor(uniform(lo, hiExclusive)),
    floats: (n, scale = 1) => Float32Array.from({ length: n }, () => normal() * scale),
  };
}

// 32-bit state, passes the usual batteries at this length; quality is ample for test data.
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
