/** Scales to move into tiles and back. */
export interface PackCase {
  readonly name: string;
  readonly rows: number;
  readonly blocks: number;
}

/** Whole tiles, parts of tiles, none. */
export const packCases: readonly PackCase[] = (
  [
    [128, 4],
    [256, 8],
    [1, 1],
    [33, 5],
    [129, 3],
    [300, 192],
    [0, 4],
    [4, 0],
  ] as const
).map(([rows, blocks]) => ({ name: `${rows} x ${blocks}`, rows, blocks }));
