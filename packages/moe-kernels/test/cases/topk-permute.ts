import { type TopkCase, topkCases } from './topk.js';

/** A routing problem and the experts that a rank holds. */
export interface TopkPermuteCase extends TopkCase {
  readonly offset?: number;
  /** Default: all behind the offset, shared slots too. */
  readonly local?: number;
}

const m3 = { topK: 4, method: 'miniMax2', routedScalingFactor: 2 } as const;

/** All cases of top-k, and those around the limits of one launch: tokens, pairs, experts, ranks. */
export const topkPermuteCases: readonly TopkPermuteCase[] = [
  ...topkCases,
  ...[1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 32, 33].map((tokens) => ({
    name: `${tokens} tokens of a rank in the middle`,
    tokens,
    experts: 128,
    config: m3,
    offset: 40,
    local: 37,
    padding: tokens > 2,
  })),
  ...[1, 5, 32].map((tokens) => ({
    name: `${tokens} tokens of a rank without their experts`,
    tokens,
    experts: 128,
    config: { ...m3, topK: 1 },
    offset: 127,
    local: 1,
  })),
  ...[1, 7, 31, 32, 33, 63, 64, 65, 96, 127, 128, 129].map((experts) => ({
    name: `${experts} experts`,
    tokens: 9,
    experts,
    config: { ...m3, topK: Math.min(experts, 5) },
  })),
  ...[8, 31, 32].map((topK) => ({
    name: `${topK} of 128, up to 256 pairs`,
    tokens: Math.floor(256 / topK),
    experts: 128,
    config: { ...m3, topK },
  })),
  {
    name: '264 pairs',
    tokens: 33,
    experts: 128,
    config: { ...m3, topK: 8 },
  },
  {
    name: 'a fused shared expert of the last rank',
    tokens: 17,
    experts: 128,
    config: { ...m3, numFusedSharedExperts: 1 },
    padding: true,
    offset: 96,
  },
];
