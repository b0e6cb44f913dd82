/** Rows of logits to gather and mask. */
export interface MaskLogitsCase {
  readonly name: string;
  readonly rows: number;
  readonly vocab: number;
  /** Row of each masked row; some are outside. */
  readonly sources: readonly number[];
  /** Share of the ids that are allowed. */
  readonly allowed: number;
}

/** No rows, one, rows outside; vocabularies with and without a rest; MiniMax-M3's. */
export const maskLogitsCases: readonly MaskLogitsCase[] = [
  { name: 'no rows', rows: 3, vocab: 40, sources: [], allowed: 0.5 },
  { name: 'one id', rows: 1, vocab: 1, sources: [0], allowed: 1 },
  { name: 'a rest of a word', rows: 3, vocab: 77, sources: [2, 0], allowed: 0.5 },
  { name: 'whole words', rows: 2, vocab: 64, sources: [1, 1, 0], allowed: 0.1 },
  { name: 'rows outside', rows: 2, vocab: 33, sources: [-1, 1, 2, 2 ** 31 - 1], allowed: 0.9 },
  { name: 'nothing allowed', rows: 1, vocab: 50, sources: [0], allowed: 0 },
  { name: 'the vocabulary of M3', rows: 5, vocab: 200_064, sources: [4, 0, 2], allowed: 0.01 },
];
