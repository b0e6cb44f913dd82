/** A batch of rows; which of them are changed follows from the row's number. */
export interface AdjustLogitsCase {
  readonly name: string;
  readonly rows: number;
  readonly vocab: number;
  /** Places of a row's list; about half are taken. */
  readonly entries: number;
  /** Flags of the rows, over and over. */
  readonly flags: readonly number[];
  /** Share of ids that prompt or answer have. */
  readonly seen: number;
  /** Half of the logits are −∞, NaN or +∞. */
  readonly isOdd?: boolean;
  readonly gap?: number;
}

/** No rows, one id, no list, each flag alone and mixed, odd numbers, MiniMax-M3's 200,064 ids. */
export const adjustLogitsCases: readonly AdjustLogitsCase[] = [
  { name: 'no rows', rows: 0, vocab: 10, entries: 3, flags: [0], seen: 0 },
  { name: 'one id', rows: 4, vocab: 1, entries: 2, flags: [0, 1, 2, 3], seen: 1 },
  { name: 'no list', rows: 3, vocab: 77, entries: 0, flags: [1, 3, 2], seen: 0.2 },
  { name: 'nothing to change', rows: 5, vocab: 1031, entries: 8, flags: [0], seen: 0.5 },
  { name: 'penalties', rows: 5, vocab: 1031, entries: 8, flags: [1], seen: 0.3, gap: 5 },
  { name: 'a list', rows: 5, vocab: 1031, entries: 300, flags: [2], seen: 0.3 },
  {
    name: 'all kinds of rows',
    rows: 19,
    vocab: 4097,
    entries: 64,
    flags: [0, 3, 1, 2],
    seen: 0.01,
  },
  { name: 'odd logits', rows: 9, vocab: 333, entries: 64, flags: [3], seen: 0.5, isOdd: true },
  { name: '200,064 ids', rows: 3, vocab: 200_064, entries: 1154, flags: [3, 0, 2], seen: 0.002 },
];
