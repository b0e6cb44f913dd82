import type { Sequence } from '../sequence.js';

// Most decisions end nobody, start nobody and keep nobody back. A list that is nearly always empty
// is made when somebody is in it, so that those decisions allocate none.

/** The list of no sequences. */
export const nobody: readonly Sequence[] = [];

/** Those for which the test holds, in order; it is asked once for each. */
export function matching(
  sequences: readonly Sequence[],
  test: (sequence: Sequence) => boolean,
): readonly Sequence[] {
  if (sequences.length === 0) return nobody;
  let found: Sequence[] | undefined;
  for (const sequence of sequences) {
    if (!test(sequence)) continue;
    found ??= [];
    found.push(sequence);
  }
  return found ?? nobody;
}

/** The sequences of both lists, in order. */
export function joined(one: readonly Sequence[], other: readonly Sequence[]): readonly Sequence[] {
  if (other.length === 0) return one;
  return one.length === 0 ? other : [...one, ...other];
}
