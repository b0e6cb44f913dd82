import type { RequestTiming } from '../generation/request-clock.js';
import type { RequestSummary } from '../metrics/request-metrics.js';

/** What is told of a request that is over: numbers and names, no text of it. */
export interface RequestFacts {
  readonly id: string;
  readonly model: string;
  /** Milliseconds since 1970 when it was accepted. */
  readonly startedMs: number;
  /** Milliseconds until its prompts were tokens; undefined if it did not come so far. */
  readonly preparedMs: number | undefined;
  readonly timing: RequestTiming;
  readonly summary: RequestSummary;
  readonly asked: {
    readonly n?: number | undefined;
    readonly maxTokens?: number | undefined;
    readonly temperature?: number | undefined;
    readonly topP?: number | undefined;
  };
  /** Headers of W3C, as the client sent them. */
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
}

/** Where requests are told when they are over. */
export interface RequestTraces {
  add(facts: RequestFacts): void;
  /** Sends what is left, for so long at most. */
  close(mostMs: number): Promise<void>;
}
