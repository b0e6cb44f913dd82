/** Weights of all experts, row by row, as exact numbers. */
export interface ReferenceWeights {
  /** Row `r` of 2 · intermediate of an expert's w13: [hidden]. */
  readonly w13Row: (expert: number, r: number) => Float32Array;
  /** Row `r` of hidden of an expert's w2: [intermediate]. */
  readonly w2Row: (expert: number, r: number) => Float32Array;
  readonly experts: number;
  readonly hidden: number;
  readonly intermediate: number;
}

/** Constants of SwiGLU-OAI. */
export interface ReferenceSwiglu {
  readonly alpha: number;
  readonly beta: number;
  readonly limit: number;
}

/** SwiGLU-OAI in float64. The gate has no lower clamp. NaN stays. */
export function referenceSwiglu(gate: number, up: number, c: ReferenceSwiglu): number {
  const g = Math.min(gate, c.limit);
  const u = Math.max(Math.min(up, c.limit), -c.limit);
  return (g / (1 + Math.exp(-c.alpha * g))) * (u + c.beta);
}

/** Channel `c` of y of one token and expert in float64, not rounded. */
export function referenceGateUp(
  x: Float32Array,
  expert: number,
  c: number,
  weights: ReferenceWeights,
  swiglu: ReferenceSwiglu,
): number {
  const gate = dot(weights.w13Row(expert, c), x);
  const up = dot(weights.w13Row(expert, weights.intermediate + c), x);
  return referenceSwiglu(gate, up, swiglu);
}

/** Column `c` of h2 of one row of y and one expert in float64, not rounded. */
export function referenceDown(
  y: Float32Array,
  expert: number,
  c: number,
  weights: ReferenceWeights,
): number {
  return dot(weights.w2Row(expert, c), y);
}

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

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
