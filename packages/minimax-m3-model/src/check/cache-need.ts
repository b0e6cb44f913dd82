/** What the cache of a model takes, known before it is loaded. */

import type { ModelConfig } from '../config/model-config.js';
import { type ActivationDType, pageBytesOf, pageTokensOf } from '../kv-cache.js';

/** Sizes of the cache of one rank that holds all heads. */
export interface CacheNeed {
  readonly pageTokens: number;
  /** Over all layers. */
  readonly pageBytes: number;
}

/** The sizes that a loaded model of this config will have. */
export function cacheNeed(config: ModelConfig, dtype: ActivationDType): CacheNeed {
  const pageTokens = pageTokensOf(config);
  const kvHeads = { start: 0, count: config.kvHeads };
  return { pageTokens, pageBytes: pageBytesOf({ config, kvHeads, pageTokens, dtype }) };
}
