import { ExitError } from '../../errors/index.js';
import type { BenchPrompt, BenchTokenizer } from '../bench-prompt.js';
import type { SeededRandom } from '../seeded-random.js';
import { randomText } from './random-prompts.js';

/** What long prompts are to be. */
export interface LongSizes {
  /** Tokens of a prompt; default: a million, or what the context leaves. */
  readonly inputTokens: number | undefined;
  readonly outputTokens: number;
}

/** What is known of a server by which lengths are settled. */
export interface LongServer {
  /** Longest sequence; undefined = it does not say. */
  readonly contextTokens: number | undefined;
  /** Tokens of a text as the server counts them; undefined = it cannot tell. */
  countTokens(text: string): Promise<number | undefined>;
}

const million = 1_000_000;
/** For the template of a chat, and for cut tokens that are read as others. */
const marginTokens = 64;
/** Words that the server counts once, at most, to know how many tokens one is. */
const mostSampled = 2000;
/** Other words may be a little longer than those of the sample. */
const caution = 0.99;

/** Tokens that the prompts will have. @throws ExitError (usage) where the context leaves no room */
export function longLength(
  { inputTokens, outputTokens }: LongSizes,
  { contextTokens }: Pick<LongServer, 'contextTokens'>,
): number {
  if (inputTokens !== undefined) return inputTokens;
  const room = (contextTokens ?? Number.POSITIVE_INFINITY) - outputTokens - marginTokens;
  if (room >= 1) return Math.min(million, room);
  const problem = `long-1m: a context of ${contextTokens} tokens leaves no room beside ${outputTokens}`;
  throw new ExitError('usage', `${problem}; pass a smaller --random-output-len`);
}

/**
 * Prompts as long as the context takes, a million tokens at most. No two begin alike, so none is
 * found in a prefix cache. Without a tokenizer the server tells how many tokens its words are.
 *
 * @throws ExitError (usage) if nobody can count tokens
 */
export async function longPrompts(
  count: number,
  tokens: number,
  { outputTokens }: Pick<LongSizes, 'outputTokens'>,
  {
    random,
    tokenizer,
    server,
  }: {
    readonly random: SeededRandom;
    readonly tokenizer: BenchTokenizer | undefined;
    readonly server: LongServer;
  },
): Promise<BenchPrompt[]> {
  const words = tokenizer ? tokens : await wordsOf(tokens, random, server);
  return Array.from({ length: count }, () => {
    const text = randomText(words, random, tokenizer);
    return { text, outputTokens, ...(tokenizer ? { textTokens: tokens } : {}) };
  });
}

async function wordsOf(tokens: number, random: SeededRandom, server: LongServer): Promise<number> {
  // The server refuses to count what its context could not hold.
  const sampled = Math.min(mostSampled, Math.ceil(tokens / 4));
  const counted = await server.countTokens(randomText(sampled, random));
  if (counted === undefined || counted === 0) {
    const problem = 'long-1m: the server has no /tokenize that would count its tokens';
    throw new ExitError('usage', `${problem}; pass --tokenizer DIR`);
  }
  return Math.max(1, Math.floor((tokens * sampled * caution) / counted));
}
