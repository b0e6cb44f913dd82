import type { Sequence } from '../sequence.js';
import type { PageKeys } from './page-keys.js';

/** What it computes before it decodes is its prompt, and it has generated nothing. */
export function isNew({ generated, prefillTokens, prompt }: Sequence): boolean {
  return generated.length === 0 && prefillTokens === prompt.length;
}

/**
 * The name of the page that a sequence computes next, if its prefill fills that page or its prompt
 * ends in it.
 */
export function nextName(
  sequence: Sequence,
  keys: PageKeys,
  pageTokens: number,
): string | undefined {
  const { computedTokens, remainingPrefill, prompt } = sequence;
  const index = Math.floor(computedTokens / pageTokens);
  const isFull = (index + 1) * pageTokens <= computedTokens + remainingPrefill;
  if (isFull) return keys.at(index);
  return isNew(sequence) ? keys.ofPrompt(prompt.length) : undefined;
}

/**
 * Names of the full pages, and of the prompt, that a step which is not over computes of what
 * precedes decoding. A trace tells a page that decoding fills when it is filled, so none is named
 * before.
 */
export function namesInFlight(sequence: Sequence, keys: PageKeys, pageTokens: number): string[] {
  const { landedTokens, computedTokens, prefillTokens, prompt } = sequence;
  const first = Math.floor(landedTokens / pageTokens);
  const end = Math.floor(Math.min(computedTokens, prefillTokens) / pageTokens);
  const names = Array.from({ length: Math.max(0, end - first) }, (_, n) => keys.at(first + n));
  const endsPrompt = landedTokens < prompt.length && computedTokens >= prompt.length;
  return endsPrompt ? [...names, keys.ofPrompt(prompt.length)] : names;
}
