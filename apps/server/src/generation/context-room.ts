import { ApiError } from '../errors/index.js';

/** How many tokens a request may generate. */
export interface TokenRoom {
  /** Undefined = as many as fit. */
  readonly maxTokens: number | undefined;
  /** True if the request asked for more than fits. */
  readonly isClamped: boolean;
}

/**
 * Fits a request into the context: a prompt that fills it is refused, never cut; too large a wish
 * for new tokens is clamped, as editors send round numbers and mean "as many as fit".
 *
 * @param wanted `max_tokens` of the request
 * @param param the field that holds the prompt, for the error
 */
export function roomAfter(
  promptTokens: number,
  wanted: number | undefined,
  { contextTokens, param }: { contextTokens: number; param: 'messages' | 'prompt' },
): TokenRoom {
  const room = contextTokens - promptTokens;
  if (room < 1) {
    const message =
      `the prompt has ${promptTokens} tokens, the context ${contextTokens}, ` +
      `so at most ${contextTokens - 1} fit before the first new one; shorten the prompt`;
    throw new ApiError({ status: 400, code: 'context_length_exceeded', param, message });
  }
  const isClamped = wanted !== undefined && wanted > room;
  return { maxTokens: isClamped ? room : wanted, isClamped };
}
