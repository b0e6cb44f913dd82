/** Why a sequence ended. */
export type FinishReason = 'stop' | 'length' | 'abort' | 'error';

/** One alternative for a position. */
export interface TokenLogprob {
  readonly id: number;
  readonly logprob: number;
}

/** A generated token. */
export interface TokenEvent {
  readonly type: 'token';
  readonly id: number;
  /**
   * Log-probability under the model, before temperature and filters; with
   * `logprobsMode: 'processed'`, and where log-probabilities were asked for, of what the token was
   * drawn from.
   */
  readonly logprob: number;
  /** The best alternatives, when they were asked for; −Infinity: it could not be drawn. */
  readonly top: readonly TokenLogprob[];
  /** On the first token, if it is not 0: prompt tokens that were found in the prefix cache. */
  readonly cachedTokens?: number;
}

/**
 * Log-probabilities of the prompt; comes once, before the first token. The first prompt token has
 * none.
 */
export interface PromptEvent {
  readonly type: 'prompt';
  readonly tokens: readonly { readonly logprob: number; readonly top: readonly TokenLogprob[] }[];
}

/** The end of a sequence; always the last event. */
export interface FinishEvent {
  readonly type: 'finish';
  readonly reason: FinishReason;
  /** The stop token or stop string that ended the sequence. */
  readonly stop?: number | string;
  readonly promptTokens: number;
  /** Prompt tokens that were found in the prefix cache. */
  readonly cachedTokens: number;
  readonly generatedTokens: number;
  /** What failed, when the reason is `error`. */
  readonly error?: Error;
}

/** What `engine.generate` yields, in order. */
export type GenerationEvent = PromptEvent | TokenEvent | FinishEvent;
