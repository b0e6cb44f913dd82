import type { TokenLogprob } from '../generation-event.js';
import type { GrammarEnd } from '../grammar/row-rule.js';

/**
 * What a step drew for its sequences, a row for each, in order. In columns, since an object a row
 * is what a step would allocate most of.
 */
export interface TokenColumns {
  /** These two may have more rows than the step has sequences. */
  readonly ids: ArrayLike<number>;
  /** NaN: no logit of the row was a number. */
  readonly logprobs: ArrayLike<number>;
  /** Alternatives of each row; absent: none were asked for. */
  readonly top?: readonly (readonly TokenLogprob[])[] | undefined;
  /**
   * Rows without a token: the sequence's grammar says that the text is complete, or failed; absent:
   * there are none.
   */
  readonly ends?: readonly (GrammarEnd | undefined)[] | undefined;
}

/** The rows of a step that has none. */
export const noTokens: TokenColumns = { ids: [], logprobs: [] };
