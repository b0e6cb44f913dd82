/** Rows to bring into the order of warpgroups. */
export interface ExpertsPackCase {
  readonly name: string;
  readonly weights: 'mxfp8' | 'bf16';
  readonly rows: number;
  readonly columns: number;
}

const counts = [
  { rows: 1, columns: 64 },
  { rows: 37, columns: 192 },
  { rows: 600, columns: 512 },
] as const;

/** One group, odd numbers of groups, more chunks than threads. */
export const expertsPackCases: readonly ExpertsPackCase[] = (['mxfp8', 'bf16'] as const).flatMap(
  (weights) =>
    counts.map(({ rows, columns }) => ({
      name: `${weights}, ${rows} × ${columns}`,
      ...{ weights, rows, columns },
    })),
);
