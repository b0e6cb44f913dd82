import type { ApiError } from '../errors/index.js';
import type { ServerContext } from '../server-context.js';

const longestSeconds = 60;
/** Clients that were refused together should not come back together. */
const jitter = 0.2;
/** When nothing was computed lately, so nothing is known. */
const unknownSeconds = 2;
const depends = new Set(['overloaded', 'queue_timeout', 'tokenization_timeout']);

/**
 * When to come back: what waits, divided by how fast it went lately.
 *
 * @param queuedTokens of prompts that were not begun
 * @param perSecond tokens, of prompts and answers
 */
export function retryAfterMs(
  queuedTokens: number,
  perSecond: number,
  random: () => number = Math.random,
): number {
  const seconds = perSecond > 0 ? Math.ceil(queuedTokens / perSecond) : unknownSeconds;
  const clipped = Math.min(Math.max(1, seconds), longestSeconds);
  return Math.round(1000 * clipped * (1 - jitter + 2 * jitter * random()));
}

/** The headers of an error, which tell when to come back if that depends on what waits. */
export function retryHeaders(
  { code, headers }: ApiError,
  { metrics: { requests } }: ServerContext,
): Readonly<Record<string, string>> {
  if (!depends.has(code)) return headers;
  const perSecond = requests.rate.perSecond + requests.promptRate.perSecond;
  const ms = retryAfterMs(requests.queuedTokens, perSecond);
  return {
    ...headers,
    'retry-after': String(Math.ceil(ms / 1000)),
    'retry-after-ms': String(ms),
  };
}
