import type { RoutingCase } from './routing.js';

/** A permutation problem. */
export interface PermuteCase extends RoutingCase {
  readonly name: string;
  readonly offset?: number;
  readonly local?: number;
  readonly tileRows?: number;
  /** Default true. */
  readonly hasTiles?: boolean;
}

/** Shapes, patterns and ranks. */
export const permuteCases: readonly PermuteCase[] = [
  ...[1, 3, 31, 33, 130, 257].map((tokens) => ({
    name: `${tokens} tokens, 4 of 128`,
    tokens,
    k: 4,
    experts: 128,
  })),
  { name: 'all on one expert', tokens: 130, k: 2, experts: 8, pattern: 'one expert' },
  {
    name: 'first and last expert (sglang#26473)',
    tokens: 33,
    k: 2,
    experts: 128,
    pattern: 'first and last',
  },
  {
    name: 'id -1 in every position (vLLM#57946)',
    tokens: 64,
    k: 4,
    experts: 16,
    pattern: 'with -1',
  },
  { name: 'only -1', tokens: 5, k: 4, experts: 16, pattern: 'none local' },
  {
    name: 'the same expert twice above 256 tokens (flashinfer#3011)',
    tokens: 257,
    k: 4,
    experts: 16,
    pattern: 'duplicates',
  },
  {
    name: 'ids out of range (vLLM#50189, flashinfer#4237)',
    tokens: 65,
    k: 4,
    experts: 16,
    pattern: 'garbage',
  },
  ...[0, 1, 2, 3].map((rank) => ({
    name: `rank ${rank} of 4`,
    tokens: 65,
    k: 4,
    experts: 16,
    offset: rank * 4,
    local: 4,
  })),
  { name: 'an uneven rank', tokens: 65, k: 4, experts: 16, offset: 11, local: 5 },
  // around the 256 pairs that are few
  ...[63, 64, 65].map((tokens) => ({
    name: `${tokens} tokens without tiles`,
    tokens,
    k: 4,
    experts: 128,
    hasTiles: false,
  })),
  ...[1, 3, 31, 129, 255, 256, 257].map((tokens) => ({
    name: `${tokens} tokens to a rank in the middle, without tiles`,
    tokens,
    k: 1,
    experts: 64,
    offset: 24,
    local: 16,
    pattern: 'garbage' as const,
    hasTiles: false,
  })),
  ...[511, 512, 513].map((experts) => ({
    name: `${experts} experts without tiles`,
    tokens: 9,
    k: 6,
    experts,
    pattern: 'with -1' as const,
    hasTiles: false,
  })),
  ...(['one expert', 'none local', 'duplicates', 'first and last'] as const).map((pattern) => ({
    name: `${pattern}, without tiles`,
    tokens: 21,
    k: 4,
    experts: 128,
    pattern,
    hasTiles: false,
  })),
  // around the eight bins and pairs that a vector holds
  ...[1, 6, 7, 8, 9, 15, 16, 17].flatMap((local) =>
    [1, 7, 8, 9, 31, 33].map((tokens) => ({
      name: `${tokens} tokens, ${local} local of 24`,
      tokens,
      k: 1,
      experts: 24,
      offset: 5,
      local,
      tileRows: 3,
    })),
  ),
  {
    name: 'ids out of range, a rank in the middle',
    tokens: 1030,
    k: 5,
    experts: 64,
    offset: 24,
    local: 16,
    pattern: 'garbage',
    tileRows: 7,
  },
  {
    name: 'rows of the last expert only',
    tokens: 3,
    k: 1,
    experts: 4097,
    offset: 4096,
    pattern: 'uniform',
  },
  { name: 'as many experts as there may be', tokens: 700, k: 6, experts: 4097, tileRows: 2 },
  { name: 'tiles of one row', tokens: 9, k: 2, experts: 4, tileRows: 1 },
  { name: 'tiles of eight rows', tokens: 65, k: 2, experts: 4, tileRows: 8 },
  { name: 'more experts than pairs', tokens: 2, k: 2, experts: 4096 },
  { name: '8192 tokens', tokens: 8192, k: 4, experts: 128, tileRows: 64 },
];
