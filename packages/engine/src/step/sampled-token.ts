import type { TokenLogprob } from '../generation-event.js';

/** A token that a step chose for a sequence. */
export interface SampledToken {
  readonly id: number;
  readonly logprob: number;
  readonly top: readonly TokenLogprob[];
}
