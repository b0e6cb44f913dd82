/** A call that the model made. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON as the model wrote it. */
  readonly arguments: string;
}

/** What an answer cost. Counts are the server's; times are this page's unless they say otherwise. */
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
