import type { Sequence } from '../sequence.js';
import { PageKeys } from './page-keys.js';

/** What the prefix cache knows of a sequence. */
export interface Holding {
  readonly keys: PageKeys;
  /** Promises of the pool that are left. */
  promised: number;
  /** Pages from the start that are in the index, or have a twin there. */
  published: number;
  /** Pages that this sequence entered itself. */
  entered: number[];
  /** Pages from the start that were found when it was last looked. */
  found: number;
  /** Steps in a row that it waited for a page that another computes. */
  waits: number;
  /** Tokens that it had once: what it gets back after a release is no hit. */
  furthest: number;
  wasCounted: boolean;
  /** Name of its prompt, if that ends in a page that is not full, while others may take it over. */
  prompt: string | undefined;
}

/** Of a sequence that holds nothing yet. */
export function newHolding(sequence: Sequence, pageTokens: number): Holding {
  const keys = new PageKeys({
    pageTokens,
    salt: sequence.parameters.cacheSalt,
    tokenAt: (position) => sequence.tokenAt(position),
  });
  const nothing = { promised: 0, published: 0, entered: [], found: 0, waits: 0, furthest: 0 };
  return { keys, ...nothing, wasCounted: false, prompt: undefined };
}
