// A launch over some tokens of a batch: how block selection keeps its scratch small.
import type { ArgumentChecks } from '@altstream/cuda-runtime';

/** Tokens [first, first + count) of a batch. */
export interface TokenRange {
  readonly first: number;
  readonly count: number;
}

/** The range itself, or all tokens. @throws ArgumentRangeError if it is not inside the batch */
export function checkTokenRange(
  checks: ArgumentChecks,
  range: TokenRange | undefined,
  tokens: number,
): TokenRange {
  if (!range) return { first: 0, count: tokens };
  checks.whole('range.first', range.first, 0, tokens);
  checks.whole('range.count', range.count, 0, tokens - range.first);
  return range;
}
