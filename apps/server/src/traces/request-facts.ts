import type { PromptPiece, RequestTiming } from '../generation/request-clock.js';
import type { RequestContent } from '../log/request-content.js';
import type { RequestSummary } from '../metrics/request-metrics.js';

/**
 * What is told of a request that is over: numbers and names, and texts only where that was asked
 * for.
 */
export interface RequestFacts {
  readonly id: string;
  readonly model: string;
  /** Milliseconds since 1970 when it was accepted. */
  readonly startedMs: number;
  /** Milliseconds until its prompts were tokens; undefined if it did not come so far. */
  readonly preparedMs: number | undefined;
  readonly timing: RequestTiming;
  /** How its prompts were computed. */
  readonly pieces: readonly PromptPiece[];
  readonly summary: RequestSummary;
  readonly asked: {
    readonly n?: number | undefined;
    readonly maxTokens?: number | undefined;
    readonly temperature?: number | undefined;
    readonly topP?: number | undefined;
  };
  /**
   * Undefined unless texts are to be told: what it asked, with special tokens as their text, and
   * got. Making text of tokens takes time, so it is asked for only where it is sent.
   */
  readonly content: (() => RequestContent) | undefined;
  /** Headers of W3C, as the client sent them. */
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
}

/** Where requests are told when they are over. */
export interface RequestTraces {
  /** Whether texts are told, too. */
  readonly withContent: boolean;
  add(facts: RequestFacts): void;
  /** Sends what is left, for so long at most. */
  close(mostMs: number): Promise<void>;
}
