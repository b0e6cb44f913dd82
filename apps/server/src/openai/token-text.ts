import type { TokenLogprob } from '@altstream/engine';

/** How single tokens are shown in log-probabilities. */
export interface TokenText {
  /** Bytes of a token id. */
  bytesOf(id: number): Uint8Array;
  /** vLLM's `return_tokens_as_token_ids`: `token_id:17` instead of text. */
  readonly asTokenIds: boolean;
}

/** The text of one token; bytes that are no whole character become U+FFFD. */
export function textOf(id: number, tokens: TokenText): string {
  return tokens.asTokenIds ? `token_id:${id}` : Buffer.from(tokens.bytesOf(id)).toString('utf8');
}

/** A token with its log-probability, in the chat API's shape. */
export interface ChatTokenLogprob {
  readonly token: string;
  readonly logprob: number;
  readonly bytes: readonly number[];
}

/** One position of `choices[].logprobs.content`. */
export interface ChatLogprob extends ChatTokenLogprob {
  readonly top_logprobs: readonly ChatTokenLogprob[];
}

/** Shows a sampled token and its alternatives in the chat API's shape. */
export function chatLogprob(
  token: TokenLogprob & { readonly top: readonly TokenLogprob[] },
  tokens: TokenText,
): ChatLogprob {
  const show = ({ id, logprob }: TokenLogprob): ChatTokenLogprob => ({
    token: textOf(id, tokens),
    logprob: finite(logprob),
    bytes: [...tokens.bytesOf(id)],
  });
  return { ...show(token), top_logprobs: token.top.map(show) };
}

/** JSON has no infinities: an impossible token is shown as −9999, as OpenAI does. */
export function finite(logprob: number): number {
  return Number.isFinite(logprob) ? logprob : -9999;
}
