/** Scores and a choice. */
export interface BlockTopkCase {
  readonly name: string;
  readonly positions: readonly number[];
  readonly indexHeads: number;
  readonly maxPages: number;
  readonly pageTokens: number;
  readonly topkBlocks: number;
  readonly initBlocks?: number;
  readonly localBlocks?: number;
  /** How scores are made; `special` mixes NaN, infinities and equal values. */
  readonly scores: 'random' | 'equal' | 'few values' | 'special' | 'rising' | 'falling';
}

const long = [0, 7, 31, 32, 63, 64, 89, 511, -1, 300];
const t32 = { indexHeads: 2, maxPages: 64, pageTokens: 8, topkBlocks: 4, positions: long } as const;

/** Below, at and above topk blocks; ties; forced blocks; the longest context of the real model. */
export const blockTopkCases: readonly BlockTopkCase[] = [
  ...(['random', 'equal', 'few values', 'special', 'rising', 'falling'] as const).map((scores) => ({
    ...{ name: `T32, ${scores} scores`, ...t32, scores },
  })),
  {
    name: 'two first and two last blocks forced',
    ...t32,
    initBlocks: 2,
    localBlocks: 2,
    scores: 'special',
  },
  { name: 'one first block forced', ...t32, initBlocks: 1, scores: 'random' },
  { name: 'only the own block', ...t32, topkBlocks: 1, scores: 'rising' },
  { name: 'more places than blocks', ...t32, topkBlocks: 100, scores: 'random' },
  {
    ...{
      name: 'sglang#36560: M3 beyond 524 288 tokens, 8192 blocks',
      indexHeads: 4,
      maxPages: 8192,
      pageTokens: 128,
    },
    ...{ topkBlocks: 16, positions: [2047, 2048, 524_288, 1_048_575], scores: 'random' },
  },
  { name: 'a position beyond the page table', ...t32, positions: [1000], scores: 'random' },
  { name: 'no tokens', ...t32, positions: [], scores: 'random' },
];
