import type { TopkConfig } from '../../src/routing/topk-config.js';
import { type ReferencePermutation, referencePermute } from './permute.js';
import { type ReferenceTopk, type ReferenceTopkInput, referenceTopk } from './topk.js';

/** Experts and maps of a routing problem. */
export interface ReferenceTopkPermute extends ReferenceTopk {
  readonly maps: ReferencePermutation;
}

/** The two references one behind the other. */
export function referenceTopkPermute(
  input: ReferenceTopkInput,
  config: TopkConfig,
  local: { readonly offset: number; readonly local: number },
): ReferenceTopkPermute {
  const chosen = referenceTopk(input, config);
  return { ...chosen, maps: referencePermute(chosen.ids, { ...local, tileRows: 16 }) };
}
