/** Pieces of split rows. */
export interface AttentionCombineCase {
  readonly name: string;
  readonly positions: readonly number[];
  readonly heads: number;
  readonly headDim: number;
  readonly pieceKeys: number;
  readonly mostKeys: number;
  readonly isCausal: boolean;
}

const positions = [0, 127, 128, 4999, 5000, -1, 9999];
const shape = { positions, heads: 3, headDim: 64, mostKeys: 5001 };

const long = { positions: [40_000, 8191, 8192, 34_815, 3, -1], heads: 2, mostKeys: 39_000 };

/** Rows of one piece, of several runs and of none; positions at the borders and behind the end;
 * rounds of the groups of threads. */
export const attentionCombineCases: readonly AttentionCombineCase[] = [
  { ...shape, name: 'pieces of 128, to the position', pieceKeys: 128, isCausal: true },
  { ...shape, name: 'pieces of 128, all', pieceKeys: 128, isCausal: false, headDim: 128 },
  { ...shape, name: 'pieces of 2048, to the position', pieceKeys: 2048, isCausal: true },
  { ...shape, name: 'more runs than groups of threads', pieceKeys: 128, isCausal: true, ...long },
  {
    ...shape,
    name: 'more runs than a batch, each a piece',
    pieceKeys: 2048,
    isCausal: true,
    ...long,
  },
  {
    ...shape,
    name: 'more dims than threads, pieces of 128',
    pieceKeys: 128,
    isCausal: true,
    headDim: 200,
  },
  { ...shape, name: 'one run', pieceKeys: 128, isCausal: false, mostKeys: 2048, headDim: 128 },
  { ...shape, name: 'an odd number of dims', pieceKeys: 128, isCausal: true, headDim: 77 },
  { ...shape, name: 'more dims than threads', pieceKeys: 2048, isCausal: false, headDim: 200 },
];
