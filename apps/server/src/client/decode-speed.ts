import type { ChatAnswer } from './chat-answer.js';

/**
 * Tokens a second after the first, as the client saw them.
 *
 * @returns undefined for an answer that came in one piece, or whose tokens the server did not count
 */
export function decodeSpeed({ completionTokens = 0, timing }: ChatAnswer): number | undefined {
  const { firstMs, lastMs } = timing;
  if (completionTokens < 2 || firstMs === undefined || lastMs === undefined) return undefined;
  return lastMs > firstMs ? (1000 * (completionTokens - 1)) / (lastMs - firstMs) : undefined;
}
