import type { TokenLogprob } from '@altstream/engine';
import { finite, type TokenText, textOf } from './token-text.js';

/** `logprobs` of a text completion, one entry a token in each list. */
export interface CompletionLogprobs {
  readonly tokens: string[];
  readonly token_logprobs: (number | null)[];
  readonly top_logprobs: (Record<string, number> | null)[];
  readonly text_offset: number[];
}

/** A token to show: without a log-probability if it is a prompt's first one. */
export interface ShownToken {
  readonly id: number;
  readonly logprob: number | null;
  readonly top: readonly TokenLogprob[];
}

/**
 * Builds the lists from tokens in order.
 *
 * @param offset characters of the choice's text before the first token
 */
export function completionLogprobs(
  shown: readonly ShownToken[],
  offset: number,
  tokens: TokenText,
): CompletionLogprobs {
  const lists: CompletionLogprobs = {
    tokens: [],
    token_logprobs: [],
    top_logprobs: [],
    text_offset: [],
  };
  let at = offset;
  for (const { id, logprob, top } of shown) {
    lists.tokens.push(textOf(id, tokens));
    lists.token_logprobs.push(logprob === null ? null : finite(logprob));
    lists.top_logprobs.push(logprob === null ? null : topOf({ id, logprob, top }, tokens));
    lists.text_offset.push(at);
    at += textOf(id, { ...tokens, asTokenIds: false }).length;
  }
  return lists;
}

/** The best alternatives by text; the chosen token is always among them. */
function topOf(
  { id, logprob, top }: ShownToken & { readonly logprob: number },
  tokens: TokenText,
): Record<string, number> {
  const entries = top.map((one): [string, number] => [textOf(one.id, tokens), finite(one.logprob)]);
  return Object.fromEntries([...entries, [textOf(id, tokens), finite(logprob)]]);
}
