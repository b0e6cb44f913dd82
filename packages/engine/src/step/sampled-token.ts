import type { TokenLogprob } from '../generation-event.js';
import type { GrammarEnd } from '../grammar/row-rule.js';

/** A token that a step chose for a sequence. */
export interface SampledToken {
  readonly id: number;
  readonly logprob: number;
  readonly top: readonly TokenLogprob[];
  /** There is no token: the sequence's grammar says that the text is complete, or failed. */
  readonly end?: GrammarEnd;
}
