import type { SamplingFields } from '../openai/sampling-fields.js';

/** Whose prompts a request may find in the prefix cache: everybody's, or those of its own key. */
export type CacheIsolation = 'none' | 'api-key';

/**
 * Keeps a request's pages apart from those of other keys, where that is wanted, and of other values
 * of `cache_salt`; undefined where neither says so.
 *
 * @param tenant stands for the key that came with the request; all have the same length, so no salt
 * of one reads as that of another
 */
export function cacheSaltOf(
  { cache_salt: own }: SamplingFields,
  tenant: string,
  isolation: CacheIsolation,
): string | undefined {
  return isolation === 'none' ? (own ?? undefined) : `${tenant} ${own ?? ''}`;
}
