/** Columns that four lanes share, of which each has a quarter. */
const groups = { mxfp8: 64, bf16: 32 } as const;

/**
 * Rows whose groups of columns come two at a time from each of four lanes in turn: lane q has the
 * q-th quarter of a group.
 */
export function referenceExpertsPack(
  rows: Uint16Array,
  columns: number,
  weights: 'mxfp8' | 'bf16',
): Uint16Array {
  const group = groups[weights];
  const packed = rows.slice();
  for (let first = 0; first < rows.length; first += group) {
    let to = first;
    for (let pair = 0; pair < group / 4; pair += 2) {
      for (let lane = 0; lane < 4; lane += 1) {
        const from = first + (lane * group) / 4 + pair;
        packed[to] = rows[from] ?? 0;
        packed[to + 1] = rows[from + 1] ?? 0;
        to += 2;
      }
    }
  }
  if (columns % group !== 0) throw new RangeError(`${columns} columns are no whole groups`);
  return packed;
}
