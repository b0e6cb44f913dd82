import type { PartMatchers } from '../../grammar/answer-matcher.js';
import type { ChoiceGrammar, Grammar } from '../../grammar/grammar.js';
import type { LibraryMatcher } from '../../grammar/library.js';

/** Opens a matcher for each part of an output that has a grammar: all of them, or none. */
export async function openParts(
  { grammar, calls }: Pick<ChoiceGrammar, 'grammar' | 'calls'>,
  open: (grammar: Grammar) => Promise<LibraryMatcher>,
): Promise<PartMatchers> {
  const answer = grammar && (await open(grammar));
  try {
    return { answer, calls: calls && (await open(calls)) };
  } catch (error) {
    // Its memory is the library's, and nobody else knows of it.
    answer?.dispose();
    throw error;
  }
}
