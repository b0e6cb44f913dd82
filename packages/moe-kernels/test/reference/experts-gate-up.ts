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

/** Product of two rows in float64. */
export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
