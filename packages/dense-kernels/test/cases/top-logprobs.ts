/** Rows of logits and how many of the best are wanted. */
export interface TopLogprobsCase {
  readonly name: string;
  readonly rows: number;
  readonly vocab: number;
  readonly count: number;
  /** `tied`: few values; `sparse`: half are impossible; `ascending`: each logit above the last. */
  readonly logits?: 'tied' | 'sparse' | 'ascending';
  readonly gap?: number;
}

/** No rows, one id, none or all wanted, odd sizes, ties, impossible ids, MiniMax-M3's 200,064. */
export const topLogprobsCases: readonly TopLogprobsCase[] = [
  { name: 'no rows', rows: 0, vocab: 10, count: 5 },
  { name: 'one id', rows: 3, vocab: 1, count: 1 },
  { name: 'none of the best', rows: 5, vocab: 333, count: 0 },
  { name: 'all ids', rows: 5, vocab: 77, count: 77 },
  { name: 'twenty of an odd vocabulary', rows: 19, vocab: 1031, count: 20, gap: 9 },
  { name: 'ties', rows: 7, vocab: 1031, count: 20, logits: 'tied' },
  { name: 'more wanted than possible', rows: 7, vocab: 20, count: 20, logits: 'sparse' },
  { name: 'ascending', rows: 2, vocab: 5003, count: 20, logits: 'ascending' },
  { name: 'a part and an id more', rows: 3, vocab: 2049, count: 20, logits: 'tied' },
  { name: 'ties in many parts', rows: 3, vocab: 50_016, count: 256, logits: 'tied' },
  { name: 'the most', rows: 2, vocab: 50_016, count: 256, logits: 'ascending', gap: 1 },
  { name: 'impossible ids in every part', rows: 2, vocab: 10_000, count: 256, logits: 'sparse' },
  { name: '200,064 ids', rows: 3, vocab: 200_064, count: 20 },
  { name: '200,064 ids, the most', rows: 1, vocab: 200_064, count: 256 },
];
