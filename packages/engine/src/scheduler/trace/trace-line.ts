/** First line of a scheduling trace: what the scheduler was made with. */
export interface TraceHead {
  readonly trace: 'altstream-schedule';
  readonly version: 3;
  readonly options: {
    readonly pages: number;
    readonly pageTokens: number;
    readonly prefixCaching: boolean;
    readonly maxSequences: number;
    readonly maxBatchedTokens: number;
    readonly maxPartialPrefills: number;
    readonly longPrefillTokenThreshold: number;
    readonly itlTargetMs: number;
    readonly queueTimeoutMs: number;
    /** Absent = 1. */
    readonly maxTenantShare?: number;
  };
}

/**
 * Numbers of full pages of a sequence, in order, from the first that was not told yet. The same
 * number is the same tokens from the start on, under the same salt; which tokens those are is not
 * told.
 */
export type TracePages = readonly [sequence: number, ...pages: number[]];

/** A request was queued. Of its prompt only the length is told, of its tenant only a number. */
export interface TraceAdd {
  readonly add: number;
  readonly atMs: number;
  readonly promptTokens: number;
  readonly maxTokens: number;
  readonly priority: number;
  readonly tenant: number;
  readonly deadlineMs: number | null;
  /** It wants log-probabilities of its prompt, so it computes all of it. */
  readonly wantsPrompt: boolean;
  readonly pages: TracePages;
  /** Number of the prompt's last page, which is not full; 0 = it is full, or no page is shared. */
  readonly tail: number;
}

/** First position and number of tokens of a piece of a sequence. */
export type TracePiece = readonly [sequence: number, start: number, tokens: number];

/** What the scheduler was asked, and what it decided. */
export interface TraceNext {
  readonly next: number;
  readonly backlog: Backlog;
  /**
   * Nothing of the steps up to this one ran any more; a step is a decision that has rows or pieces.
   */
  readonly landed: number;
  /** Decoding sequences that waited for their matchers; absent = none. */
  readonly held?: readonly number[];
  /** Sequences that had ended, or were given up, since the last line of this kind. */
  readonly over: readonly number[];
  /** Those of them that failed: their pages are not to be found by others. */
  readonly failed: readonly number[];
  /** Of sequences that are preempted now. */
  readonly pages: readonly TracePages[];
  readonly decided: TraceDecision;
}

/** What a replay must decide as well. */
export interface TraceDecision {
  readonly expired: readonly number[];
  readonly preempted: readonly number[];
  readonly admitted: readonly number[];
  readonly decode: readonly number[];
  readonly prefill: readonly TracePiece[];
  /** Sequences that get a page of their own in place of one that others hold. */
  readonly copied: readonly number[];
  /** Free or evictable, and promised to nobody. */
  readonly availablePages: number;
}

/** A part of a batch was computed. */
export interface TraceCommit {
  readonly commit: readonly number[];
  readonly prefill: readonly TracePiece[];
  readonly prefillMs: number | null;
  /** Of sequences that filled one. */
  readonly pages: readonly TracePages[];
}

/** The last token that was computed for a sequence is computed again: its matcher was late. */
export interface TraceLate {
  readonly late: number;
}

/** The prefix cache was flushed, between two other lines. */
export interface TraceFlush {
  readonly flush: true;
}

/** One line of a trace, as JSON. */
export type TraceLine = TraceHead | TraceAdd | TraceNext | TraceCommit | TraceLate | TraceFlush;

/**
 * How far behind the reader of the events is: no new prompts when `behind`, nothing at all when
 * `stuck`.
 */
export type Backlog = 'none' | 'behind' | 'stuck';
