/** Scales to move into tiles and back. */
export interface PackCase {
  readonly name: string;
  readonly rows: number;
  readonly blocks: number;
}

/** Rows around each quarter of a band, and blocks around one tile and around eight of them. */
const edges = [31, 32, 64, 96, 97, 127, 128, 257].flatMap((rows) =>
  [3, 4, 28, 31, 32, 33, 63, 64, 71].map((blocks) => [rows, blocks] as const),
);

/** Whole tiles, parts of tiles, none; the first scales of a wide projection of MiniMax-M3. */
export const packCases: readonly PackCase[] = (
  [
    ...edges,
    [256, 384],
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
