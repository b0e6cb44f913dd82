/** A piece of a row that has keys. */
export interface ReferencePiece {
  /** [headDim] sums of exp(score − largest) · value. */
  readonly values: Float32Array;
  /** The largest score, scaled. */
  readonly largest: number;
  /** The sum of exp(score − largest). */
  readonly sum: number;
}

/** The row that its pieces make, in float64; zeros without pieces. */
export function referenceCombine(pieces: readonly ReferencePiece[], headDim: number): Float64Array {
  const top = Math.max(...pieces.map(({ largest }) => largest));
  const factors = pieces.map(({ largest }) => Math.exp(largest - top));
  const total = pieces.reduce((sum, piece, i) => sum + piece.sum * (factors[i] ?? 0), 0);
  return Float64Array.from({ length: headDim }, (_, d) => {
    const value = pieces.reduce((sum, { values }, i) => {
      return sum + (values[d] ?? 0) * (factors[i] ?? 0);
    }, 0);
    return pieces.length === 0 ? 0 : value / total;
  });
}
