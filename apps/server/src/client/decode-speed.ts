import type { ChatAnswer } from './chat-answer.js';

/** Milliseconds within which pieces are one: they waited for the client, and show no speed. */
const onePieceMs = 1;

/**
 * Tokens a second after the first, as the client saw them.
 *
 * @returns undefined for an answer that came in one piece, or whose tokens the server did not count
 */
export function decodeSpeed({ completionTokens = 0, timing }: ChatAnswer): number | undefined {
  const { firstMs, lastMs } = timing;
  if (completionTokens < 2 || firstMs === undefined || lastMs === undefined) return undefined;
  const spanMs = lastMs - firstMs;
  return spanMs > onePieceMs ? (1000 * (completionTokens - 1)) / spanMs : undefined;
}
