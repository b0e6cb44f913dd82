import { ApiError } from '../errors/index.js';

/** How many tokens a request may generate. */
export interface TokenRoom {
  /** Undefined = as many as fit. */
  readonly maxTokens: number | undefined;
  /** True if the request asked for more than fits. */
  readonly isClamped: boolean;
}

/** What {@link roomAfter} fits a request into. */
export interface RoomLimits {
  readonly contextTokens: number;
  readonly param: 'messages' | 'prompt';
  readonly isStrict?: boolean;
  /** New tokens of a request that names no most; undefined = what fits. */
  readonly usual?: number | undefined;
}

/**
 * Fits a request into the context: a prompt that fills it is refused, never cut; too large a wish
 * for new tokens is clamped, as editors send round numbers and mean "as many as fit".
 *
 * @param wanted `max_tokens` of the request
 * @param limits `param`: the field that holds the prompt, for the error; `isStrict`: refuse instead
 * of clamping
 */
export function roomAfter(
  promptTokens: number,
  wanted: number | undefined,
  { contextTokens, param, isStrict = false, usual }: RoomLimits,
): TokenRoom {
  const room = contextTokens - promptTokens;
  if (room < 1) {
    const more = wanted === undefined ? '' : ` and max_tokens asks for ${wanted} more`;
    const message =
      `the prompt has ${promptTokens} tokens, the context ${contextTokens}${more}; ` +
      `at most ${contextTokens - 1} leave room for a new one: shorten the prompt`;
    throw new ApiError({ status: 400, code: 'context_length_exceeded', param, message });
  }
  // Nobody asked for it, so it is no clamp.
  if (wanted === undefined && usual !== undefined) {
    return { maxTokens: Math.min(usual, room), isClamped: false };
  }
  const isClamped = wanted !== undefined && wanted > room;
  if (isClamped && isStrict) {
    const message =
      `the prompt has ${promptTokens} tokens, the context ${contextTokens} and max_tokens asks for ${wanted} ` +
      `more; ask for at most ${room}, or shorten the prompt (--strict-max-tokens)`;
    throw new ApiError({
      status: 400,
      code: 'context_length_exceeded',
      param: 'max_tokens',
      message,
    });
  }
  return { maxTokens: isClamped ? room : wanted, isClamped };
}
