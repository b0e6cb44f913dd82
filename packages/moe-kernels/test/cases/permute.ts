import type { RoutingCase } from './routing.js';

/** A permutation problem. */
export interface PermuteCase extends RoutingCase {
  readonly name: string;
  readonly offset?: number;
  readonly local?: number;
  readonly tileRows?: number;
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
  { name: 'tiles of one row', tokens: 9, k: 2, experts: 4, tileRows: 1 },
  { name: 'tiles of eight rows', tokens: 65, k: 2, experts: 4, tileRows: 8 },
  { name: 'more experts than pairs', tokens: 2, k: 2, experts: 4096 },
  { name: '8192 tokens', tokens: 8192, k: 4, experts: 128, tileRows: 64 },
];
