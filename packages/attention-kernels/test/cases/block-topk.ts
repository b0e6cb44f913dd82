/**
 * How scores are made: `special` mixes NaN, infinities and equal values; `any bits` are floats of
 * every exponent, denormal ones and NaN among them; `mostly lowest` has one number among 16 −∞ or
 * NaN.
 */
export type ScoreKind = (typeof scoreKinds)[number];

const scoreKinds = [
  ...(['random', 'equal', 'few values', 'special', 'rising', 'falling'] as const),
  ...(['any bits', 'mostly lowest'] as const),
] as const;

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
  readonly scores: ScoreKind;
}

const long = [0, 7, 31, 32, 63, 64, 89, 511, -1, 300];
const t32 = { indexHeads: 2, maxPages: 64, pageTokens: 8, topkBlocks: 4, positions: long } as const;

// Blocks of one token: position p has p + 1 of them.
const rows = {
  ...{ indexHeads: 1, maxPages: 300, pageTokens: 1 },
  positions: [
    ...[15, 16, 17, 22, 23, 24, 30, 31, 32, 33, 39, 47, 48, 49, 62, 63, 64, 65, 66, 67, 71, 80],
    ...[94, 95, 96, 97, 98, 126, 127, 128, 129, 130, 131, 160, 191, 192, 193, 255, 256, 257, 299],
  ],
} as const;
const longest = {
  ...{ indexHeads: 1, maxPages: 8192, pageTokens: 128, positions: [1_048_575, 1_044_000] },
} as const;

/**
 * Below, at and above topk blocks; ties; forced blocks; row lengths around the vectors of every
 * level.
 */
export const blockTopkCases: readonly BlockTopkCase[] = [
  ...scoreKinds.map((scores) => ({ name: `T32, ${scores} scores`, ...t32, scores })),
  ...scoreKinds.map((scores) => ({
    name: `16 of rows around whole vectors, ${scores} scores`,
    ...{ ...rows, topkBlocks: 16, scores },
  })),
  ...[2, 33, 34, 64, 65, 100].map((topkBlocks) => ({
    name: `${topkBlocks} of rows around whole vectors`,
    ...{ ...rows, topkBlocks, scores: 'few values' as const },
  })),
  {
    name: 'rows that start behind three forced blocks and end before two',
    ...{ ...rows, topkBlocks: 20, initBlocks: 3, localBlocks: 2, scores: 'special' },
  },
  {
    name: 'two first and two last blocks forced',
    ...t32,
    initBlocks: 2,
    localBlocks: 2,
    scores: 'special',
  },
  { name: 'one first block forced', ...t32, initBlocks: 1, scores: 'random' },
  { name: 'only the own block', ...t32, topkBlocks: 1, scores: 'rising' },
  { name: 'one block', ...t32, maxPages: 1, positions: [0, 7, -1], scores: 'random' },
  { name: 'as many places as blocks', ...t32, topkBlocks: 64, scores: 'special' },
  { name: 'one block more than places', ...t32, topkBlocks: 63, scores: 'special' },
  { name: 'more places than blocks', ...t32, topkBlocks: 100, scores: 'random' },
  {
    ...{ name: 'sglang#36560: M3 beyond 524 288 tokens, 8192 blocks', ...longest, indexHeads: 4 },
    ...{ topkBlocks: 16, positions: [2047, 2048, 524_288, 1_048_575], scores: 'random' },
  },
  ...(['few values', 'special', 'rising', 'mostly lowest'] as const).map((scores) => ({
    ...{ name: `M3's longest context, ${scores} scores`, ...longest, topkBlocks: 16, scores },
  })),
  { name: "1024 of M3's longest context", ...longest, topkBlocks: 1024, scores: 'any bits' },
  { name: 'a position beyond the page table', ...t32, positions: [1000], scores: 'random' },
  { name: 'no tokens', ...t32, positions: [], scores: 'random' },
];
