/** Rows of `hidden` columns. */
export interface ReferenceRmsNormInput {
  readonly x: Float32Array;
  readonly residual?: Float32Array | undefined;
  readonly weight: Float32Array;
  readonly epsilon: number;
  readonly gemma: boolean;
}

/** Unrounded sum and norm in double: y = s / sqrt(mean(s²) + epsilon) · (1 + weight). */
export function referenceRmsNorm(input: ReferenceRmsNormInput): {
  sum: Float64Array;
  y: Float64Array;
} {
  const { x, residual, weight, epsilon, gemma } = input;
  const hidden = weight.length;
  const sum = Float64Array.from(x, (value, i) => value + (residual?.[i] ?? 0));
  const y = new Float64Array(sum.length);
  for (let start = 0; start < sum.length; start += hidden) {
    const row = sum.subarray(start, start + hidden);
    let squares = 0;
    for (const s of row) squares += s * s;
    const inverse = 1 / Math.sqrt(squares / hidden + epsilon);
    for (const [column, s] of row.entries()) {
      const w = weight[column] ?? 0;
      y[start + column] = s * inverse * (gemma ? 1 + w : w);
    }
  }
  return { sum, y };
}
