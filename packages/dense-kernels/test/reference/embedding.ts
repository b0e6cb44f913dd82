/** Rows of `table` ([rows, hidden]) by id; zeros for an id outside. The caller rounds. */
export function referenceEmbedding(
  table: Float32Array,
  hidden: number,
  ids: readonly number[],
): Float32Array {
  const rows = table.length / hidden;
  const y = new Float32Array(ids.length * hidden);
  for (const [token, id] of ids.entries()) {
    if (id < 0 || id >= rows) continue;
    y.set(table.subarray(id * hidden, (id + 1) * hidden), token * hidden);
  }
  return y;
}
