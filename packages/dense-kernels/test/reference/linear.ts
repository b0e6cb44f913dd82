/** A product in float64, and how large the terms were. */
export interface LinearReference {
  /** `[tokens, out]` */
  readonly y: Float64Array;
  /** Sum of the terms' magnitudes, what rounding errors are relative to; `[tokens, out]`. */
  readonly magnitude: Float64Array;
}

/** y = x · weightᵀ in float64. `x` `[tokens, in]`, `weight` `[out, in]`. */
export function referenceLinear(
  x: ArrayLike<number>,
  weight: ArrayLike<number>,
  shape: { readonly tokens: number; readonly in: number; readonly out: number },
): LinearReference {
  const y = new Float64Array(shape.tokens * shape.out);
  const magnitude = new Float64Array(shape.tokens * shape.out);
  for (let token = 0; token < shape.tokens; token += 1) {
    for (let out = 0; out < shape.out; out += 1) {
      let sum = 0;
      let size = 0;
      for (let k = 0; k < shape.in; k += 1) {
        const term = (x[token * shape.in + k] ?? 0) * (weight[out * shape.in + k] ?? 0);
        sum += term;
        size += Math.abs(term);
      }
      y[token * shape.out + out] = sum;
      magnitude[token * shape.out + out] = size;
    }
  }
  return { y, magnitude };
}
