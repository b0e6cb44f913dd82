/** A table and how many rows of it are gathered. */
export interface EmbeddingCase {
  readonly name: string;
  readonly rows: number;
  readonly hidden: number;
  readonly tokens: number;
  readonly tableDType: 'bf16' | 'f32';
  readonly outDType: 'bf16' | 'f32';
  /** Elements between rows of the table beyond `hidden`. */
  readonly gap?: number;
  /** Column of the wider tensor where the rows begin. */
  readonly start?: number;
  /** Id of row 0. */
  readonly firstId?: number;
}

const types = [
  { tableDType: 'bf16', outDType: 'bf16' },
  { tableDType: 'bf16', outDType: 'f32' },
  { tableDType: 'f32', outDType: 'f32' },
  { tableDType: 'f32', outDType: 'bf16' },
] as const;

/** Sizes around a vector of each instruction set and around a page of either dtype. */
const widths = [2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 1023, 1025, 2047, 2049];

/**
 * Every pair of dtypes; no tokens, one, odd sizes, unaligned views, parts of a table, M3's width.
 */
export const embeddingCases: readonly EmbeddingCase[] = types.flatMap((pair) => {
  const name = `${pair.tableDType} to ${pair.outDType}`;
  return [
    { name: `${name}, no tokens`, rows: 5, hidden: 8, tokens: 0, ...pair },
    { name: `${name}, one of one`, rows: 1, hidden: 1, tokens: 1, ...pair },
    { name: `${name}, odd sizes`, rows: 37, hidden: 77, tokens: 101, ...pair },
    { name: `${name}, rows of a view`, rows: 9, hidden: 33, tokens: 19, gap: 31, ...pair },
    { name: `${name}, unaligned`, rows: 9, hidden: 2053, tokens: 19, gap: 6, start: 5, ...pair },
    ...widths.map((hidden) => ({
      name: `${name}, ${hidden} wide`,
      rows: 5,
      hidden,
      tokens: 9,
      ...pair,
    })),
    { name: `${name}, part of a table`, rows: 7, hidden: 20, tokens: 30, firstId: 11, ...pair },
    { name: `${name}, last ids`, rows: 3, hidden: 4, tokens: 9, firstId: 2 ** 31 - 3, ...pair },
    { name: `${name}, 6144 wide`, rows: 31, hidden: 6144, tokens: 9, ...pair },
  ];
});
