/** a + b in double; the caller rounds. */
export function referenceAdd(a: Float32Array, b: Float32Array): Float64Array {
  return Float64Array.from(a, (value, i) => value + (b[i] ?? 0));
}
