/**
 * Rows of `table` ([rows, hidden], the first has the id `firstId`); zeros for an id outside. The
 * caller rounds.
 */
export function referenceEmbedding(
  table: Float32Array,
  hidden: number,
  ids: readonly number[],
  firstId = 0,
): Float32Array {
  const rows = table.length / hidden;
  const y = new Float32Array(ids.length * hidden);
  for (const [token, id] of ids.entries()) {
    const row = id - firstId;
    if (row < 0 || row >= rows) continue;
    y.set(table.subarray(row * hidden, (row + 1) * hidden), token * hidden);
  }
  return y;
}
