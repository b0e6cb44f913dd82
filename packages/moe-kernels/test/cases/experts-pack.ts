/** Rows to bring into the order of warpgroups. */
export interface ExpertsPackCase {
  readonly name: string;
  readonly weights: 'mxfp8' | 'bf16';
  readonly rows: number;
  readonly columns: number;
  /** Bytes from a multiple of 16 to the first row; default 0. */
  readonly offset?: number;
}

const counts = [
  { rows: 1, columns: 64, offset: 0 },
  { rows: 37, columns: 192, offset: 0 },
  { rows: 37, columns: 192, offset: 2 },
  { rows: 5, columns: 128, offset: 4 },
  { rows: 600, columns: 512, offset: 0 },
] as const;

/** One group, odd numbers of groups, rows of odd address, more chunks than threads. */
export const expertsPackCases: readonly ExpertsPackCase[] = (['mxfp8', 'bf16'] as const).flatMap(
  (weights) =>
    counts.map(({ rows, columns, offset }) => ({
      name: `${weights}, ${rows} × ${columns}${offset > 0 ? ` from byte ${offset} on` : ''}`,
      ...{ weights, rows, columns, offset },
    })),
);
