import type { AnswerToken } from '../tokens/answer-token.js';

/** A call that the model made. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON as the model wrote it. */
  readonly arguments: string;
}

/**
 * What an answer cost. Counts are the server's; times are this page's unless they say otherwise.
 */
export interface AnswerNumbers {
  readonly promptTokens?: number;
  readonly cachedTokens?: number;
  readonly completionTokens?: number;
  readonly reasoningTokens?: number;
  /** Request sent to first text, thought or call. */
  readonly firstMs?: number;
  /** How long thoughts came. */
  readonly thinkingMs?: number;
  readonly totalMs?: number;
  /** After the first token; the server's own measurement where it gives one. */
  readonly tokensPerSecond?: number;
}

/** What went over the wire for an answer. */
export interface Exchange {
  readonly request: Readonly<Record<string, unknown>>;
  /** HTTP status; 0 without an answer. */
  readonly status: number;
  /** The id that the server knows the request by. */
  readonly id: string | null;
  /** Data of each event as it came, or the body of an error. */
  readonly frames: readonly string[];
}

/** What the user said. */
export interface UserTurn {
  readonly role: 'user';
  readonly content: string;
}

/** What a tool answered; the user types it in. */
export interface ToolTurn {
  readonly role: 'tool';
  readonly callId: string;
  readonly name: string;
  readonly content: string;
}

/** What the model said. */
export interface AssistantTurn {
  readonly role: 'assistant';
  readonly content: string;
  readonly reasoning: string;
  readonly calls: readonly ToolCall[];
  /** `stop`, `length`, `tool_calls`; null while it comes, or when it was stopped or broke off. */
  readonly finish: string | null;
  /** Why it ended early. */
  readonly problem?: string;
  readonly numbers: AnswerNumbers;
  /** Its tokens, when their probabilities were asked for; gone after a reload. */
  readonly tokens?: readonly AnswerToken[];
  /** Gone after a reload. */
  readonly exchange?: Exchange;
}

/** One turn of a conversation. */
export type Turn = UserTurn | ToolTurn | AssistantTurn;

/** An answer of which nothing has come. */
export const emptyAnswer: AssistantTurn = {
  role: 'assistant',
  content: '',
  reasoning: '',
  calls: [],
  finish: null,
  numbers: {},
};
