import { seededRandom } from '@altstream/cuda-runtime/testing';

/** How tokens are spread over experts. */
export type RoutingPattern =
  | 'uniform'
  | 'one expert'
  | 'first and last'
  | 'with -1'
  | 'none local'
  | 'duplicates'
  | 'garbage';

/** A routing of `tokens` tokens to `k` of `experts` experts. */
export interface RoutingCase {
  readonly tokens: number;
  readonly k: number;
  readonly experts: number;
  readonly pattern?: RoutingPattern;
}

/** Ids [tokens · k]; distinct in a row except for 'duplicates' and 'garbage'. */
export function makeIds({ tokens, k, experts, pattern = 'uniform' }: RoutingCase): number[] {
  const random = seededRandom(tokens * 131 + k * 7 + experts);
  return Array.from({ length: tokens }, () => makeRow({ k, experts, pattern }, random)).flat();
}

function makeRow(
  { k, experts, pattern }: Required<Omit<RoutingCase, 'tokens'>>,
  random: ReturnType<typeof seededRandom>,
): number[] {
  const uniform = distinct(k, experts, random);
  const oddOne = random.integer(0, k);
  switch (pattern) {
    case 'uniform':
      return uniform;
    case 'one expert':
      return uniform.map((_, j) => (j === 0 ? 1 : -1));
    case 'first and last':
      return uniform.map((_, j) => (j === 0 ? 0 : j === 1 ? experts - 1 : -1));
    case 'with -1':
      return uniform.map((id, j) => (j === oddOne ? -1 : id));
    case 'none local':
      return uniform.map(() => -1);
    case 'duplicates':
      return uniform.map(() => uniform[0] ?? 0);
    case 'garbage':
      return uniform.map((id, j) => (j === oddOne ? (garbage[random.integer(0, 5)] ?? 0) : id));
  }
}

/** Ids that a caller must not send and that must not be followed (vLLM#57946, #50189). */
const garbage = [-2, 2 ** 31 - 1, -(2 ** 31), 100_000, -100_000];

function distinct(k: number, experts: number, random: ReturnType<typeof seededRandom>): number[] {
  const ids = new Set<number>();
  while (ids.size < k) ids.add(random.integer(0, experts));
  return [...ids];
}
