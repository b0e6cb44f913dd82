import type { RequestFacts } from './request-facts.js';

/** A part of a request. */
export interface Part {
  readonly name: 'tokenize' | 'queue' | 'prefill' | 'decode';
  /** Milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
  /**
   * Pieces of prompts that were computed in it; behind the first token they are of a sequence that
   * lost its pages.
   */
  readonly pieces: readonly { readonly at: number; readonly tokens: number }[];
}

/**
 * The parts that a request came to, one behind the other; the last one ends with it if it was cut
 * off.
 */
export function partsOf(facts: RequestFacts): readonly Part[] {
  const { startedMs, preparedMs, timing, pieces } = facts;
  const { queueMs, ttftMs, decodeMs, totalMs } = timing;
  const decodeEnd = ttftMs !== null && decodeMs !== null ? ttftMs + decodeMs : null;
  const ends = [
    ['tokenize', preparedMs ?? null],
    ['queue', queueMs],
    ['prefill', ttftMs],
    ['decode', decodeEnd],
  ] as const;
  const parts: Part[] = [];
  let from = 0;
  for (const [at, [name, end]] of ends.entries()) {
    const isLast = end === null;
    // Not seen, though it went on: the next part begins where the one before ended.
    if (isLast && ends.slice(at + 1).some(([, later]) => later !== null)) continue;
    // One token has no time of its own between the first and the last.
    if (isLast && name === 'decode' && ttftMs !== null) break;
    const until = Math.max(from, end ?? totalMs);
    const own = pieces.filter(({ ms }) => ms >= from && (isLast || ms < until));
    parts.push({
      ...{ name, start: startedMs + from, end: startedMs + until },
      pieces: own.map(({ ms, tokens }) => ({ at: startedMs + ms, tokens })),
    });
    if (isLast) break;
    from = until;
  }
  return parts;
}
