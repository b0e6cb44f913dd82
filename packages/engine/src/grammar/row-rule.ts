import { GrammarError } from '../errors/index.js';
import type { Sequence } from '../sequence.js';

/** Why a row has no next token: its text is complete, or its matcher failed. */
export type GrammarEnd = 'complete' | Error;

/** What a row of a step may choose from; `undefined` = every id. */
export type RowRule =
  | undefined
  | { readonly mask: Int32Array; readonly end?: never }
  | { readonly end: GrammarEnd; readonly mask?: never };

/**
 * Asks the matchers of a step's rows, so that they work while the step is computed.
 *
 * @returns a rule a row, or undefined if no row has a grammar
 */
export function askMatchers(
  sequences: readonly Sequence[],
  vocabSize: number,
): Promise<readonly RowRule[]> | undefined {
  if (sequences.every(({ parameters }) => !parameters.grammar)) return undefined;
  return Promise.all(sequences.map((sequence) => ruleOf(sequence, vocabSize)));
}

/** A matcher that fails is the matter of its own row. */
async function ruleOf({ parameters }: Sequence, vocabSize: number): Promise<RowRule> {
  try {
    const mask = await parameters.grammar?.mask();
    if (!mask) return undefined;
    const words = Math.ceil(vocabSize / 32);
    if (mask.length !== words) {
      throw new Error(`its mask has ${mask.length} words, expected ${words}`);
    }
    return hasBit(mask, vocabSize) ? { mask } : { end: 'complete' };
  } catch (cause) {
    return { end: new GrammarError(cause) };
  }
}

/** Bits behind the vocabulary mean nothing. */
function hasBit(mask: Int32Array, vocabSize: number): boolean {
  const whole = Math.floor(vocabSize / 32);
  for (let word = 0; word < whole; word += 1) if (mask[word] !== 0) return true;
  return ((mask[whole] ?? 0) & (2 ** (vocabSize % 32) - 1)) !== 0;
}
