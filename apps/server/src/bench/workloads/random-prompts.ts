import type { BenchPrompt, BenchTokenizer } from '../bench-prompt.js';
import type { SeededRandom } from '../seeded-random.js';

/** Sizes of random prompts, in tokens. */
export interface RandomSizes {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Both lengths vary by this share up and down. */
  readonly rangeRatio: number;
  /** Tokens in front that all prompts of a group share. */
  readonly prefixTokens: number;
  /** Groups; prompts take turns. */
  readonly prefixGroups: number;
}

/** Short words that most vocabularies have as one token each. */
const words = (
  'the of and to in is you that it he was for on are as with his they at be this have from or one had by ' +
  'word but not what all were we when your can said there use an each which she do how their if will up ' +
  'other about out many then them these so some her would make like him into time has look two more write ' +
  'go see number no way could people my than first water been call who oil its now find long down day did get'
).split(' ');

/**
 * Prompts of random words. With a tokenizer they have the wanted number of tokens (a few off where
 * the text of the cut tokens is read as others); without one, a token counts as a word.
 */
export function randomPrompts(
  count: number,
  sizes: RandomSizes,
  random: SeededRandom,
  tokenizer?: BenchTokenizer,
): BenchPrompt[] {
  const { inputTokens, outputTokens, rangeRatio, prefixTokens, prefixGroups } = sizes;
  const length = (around: number): number =>
    Math.max(
      1,
      random.integer(Math.floor(around * (1 - rangeRatio)), Math.ceil(around * (1 + rangeRatio))),
    );
  const prefixes = Array.from({ length: prefixTokens > 0 ? prefixGroups : 0 }, () =>
    randomText(prefixTokens, random, tokenizer),
  );
  return Array.from({ length: count }, (_, index) => {
    const prefix = prefixes[index % prefixes.length];
    const own = randomText(length(inputTokens), random, tokenizer);
    const text = prefix === undefined ? own : `${prefix} ${own}`;
    const counted = tokenizer && { textTokens: tokenizer.encode(text).length };
    return { text, outputTokens: length(outputTokens), ...counted };
  });
}

/** Random words of so many tokens; without a tokenizer, so many words. */
export function randomText(
  tokens: number,
  random: SeededRandom,
  tokenizer?: BenchTokenizer,
): string {
  const some = (count: number): string =>
    Array.from({ length: count }, () => words[random.integer(0, words.length - 1)]).join(' ');
  let text = some(tokens);
  if (!tokenizer) return text;
  let ids = tokenizer.encode(text);
  while (ids.length < tokens) {
    text = `${text} ${some(tokens - ids.length)}`;
    ids = tokenizer.encode(text);
  }
  return ids.length === tokens ? text : tokenizer.decode(ids.slice(0, tokens));
}
