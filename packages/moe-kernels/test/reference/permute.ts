/** Maps of a permutation, plain. */
export interface ReferencePermutation {
  readonly offsets: number[];
  readonly rows: number[];
  readonly slots: number[];
  readonly tiles: number[][];
}

/** Groups (token, slot) pairs by local expert by scanning all pairs once per expert. */
export function referencePermute(
  ids: readonly number[],
  {
    offset,
    local,
    tileRows,
  }: { readonly offset: number; readonly local: number; readonly tileRows: number },
): ReferencePermutation {
  const offsets = [0];
  const rows: number[] = [];
  const slots = ids.map(() => -1);
  const tiles: number[][] = [];
  for (let expert = 0; expert < local; expert += 1) {
    ids.forEach((id, pair) => {
      if (id !== expert + offset) return;
      slots[pair] = rows.length;
      rows.push(pair);
    });
    const first = offsets.at(-1) ?? 0;
    for (let row = first; row < rows.length; row += tileRows) {
      tiles.push([expert, row, Math.min(tileRows, rows.length - row)]);
    }
    offsets.push(rows.length);
  }
  while (rows.length < ids.length) rows.push(-1);
  return { offsets, rows, slots, tiles };
}
