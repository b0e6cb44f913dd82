import type { AnswerToken } from '../tokens/answer-token.js';
import { type AnswerNumbers, type AssistantTurn, emptyAnswer, type ToolCall } from './turn.js';

interface Delta {
  readonly content?: string | null;
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
  readonly tool_calls?: readonly {
    readonly index: number;
    readonly id?: string;
    readonly function?: { readonly name?: string; readonly arguments?: string };
  }[];
}

/** A chunk of a streamed chat, as far as the page reads it. */
export interface Chunk {
  readonly error?: { readonly message?: string };
  readonly choices?: readonly {
    readonly delta?: Delta;
    readonly finish_reason?: string | null;
    readonly logprobs?: { readonly content?: readonly AnswerToken[] | null } | null;
  }[];
  readonly usage?: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly prompt_tokens_details?: { readonly cached_tokens?: number };
    readonly completion_tokens_details?: { readonly reasoning_tokens?: number };
  } | null;
  readonly timings?: { readonly predicted_per_second?: number | null };
}

/** Puts a streamed answer together and measures it. */
export class AnswerChunks {
  #answer: AssistantTurn = emptyAnswer;
  readonly #startMs: number;
  readonly #tokens: AnswerToken[] = [];
  #lastMs: number | undefined;

  /** @param startMs when the request was sent, on the clock of `add` */
  constructor(startMs: number) {
    this.#startMs = startMs;
  }

  /** The answer so far. */
  get answer(): AssistantTurn {
    return this.#answer;
  }

  /** Takes a chunk that came at this time. @throws Error for a frame that reports an error */
  add(chunk: Chunk, nowMs: number): void {
    if (chunk.error) throw new Error(chunk.error.message ?? 'the server did not say why it failed');
    const [choice] = chunk.choices ?? [];
    if (choice?.delta) this.#addDelta(choice.delta, nowMs - this.#startMs);
    if (choice?.finish_reason) this.#answer = { ...this.#answer, finish: choice.finish_reason };
    this.#tokens.push(...(choice?.logprobs?.content ?? []));
    this.#addNumbers(numbersOf(chunk));
  }

  /** The whole answer. */
  end(nowMs: number, problem?: string): AssistantTurn {
    const { firstMs, completionTokens, tokensPerSecond } = this.#answer.numbers;
    const decodeMs = (this.#lastMs ?? 0) - (firstMs ?? 0);
    const measured =
      tokensPerSecond ??
      (completionTokens !== undefined && completionTokens > 1 && decodeMs > 0
        ? (1000 * (completionTokens - 1)) / decodeMs
        : undefined);
    this.#addNumbers({
      totalMs: nowMs - this.#startMs,
      ...(measured === undefined ? {} : { tokensPerSecond: measured }),
    });
    return {
      ...this.#answer,
      ...(this.#tokens.length === 0 ? {} : { tokens: this.#tokens }),
      ...(problem === undefined ? {} : { problem }),
    };
  }

  #addDelta(delta: Delta, sinceMs: number): void {
    const thought = delta.reasoning_content ?? delta.reasoning ?? '';
    const content = delta.content ?? '';
    const calls = delta.tool_calls ?? [];
    if (thought === '' && content === '' && calls.length === 0) return;
    this.#lastMs = sinceMs;
    const { numbers } = this.#answer;
    const firstMs = numbers.firstMs ?? sinceMs;
    this.#answer = {
      ...this.#answer,
      content: this.#answer.content + content,
      reasoning: this.#answer.reasoning + thought,
      calls: calls.reduce(withCall, this.#answer.calls),
      numbers: {
        ...numbers,
        firstMs,
        ...(thought === '' ? {} : { thinkingMs: sinceMs - firstMs }),
      },
    };
  }

  #addNumbers(more: AnswerNumbers): void {
    this.#answer = { ...this.#answer, numbers: { ...this.#answer.numbers, ...more } };
  }
}

function withCall(
  calls: readonly ToolCall[],
  delta: NonNullable<Delta['tool_calls']>[number],
): readonly ToolCall[] {
  const known = calls[delta.index] ?? { id: delta.id ?? '', name: '', arguments: '' };
  const grown = {
    id: known.id,
    name: known.name + (delta.function?.name ?? ''),
    arguments: known.arguments + (delta.function?.arguments ?? ''),
  };
  return [...calls.slice(0, delta.index), grown, ...calls.slice(delta.index + 1)];
}

function numbersOf({ usage, timings }: Chunk): AnswerNumbers {
  const speed = timings?.predicted_per_second;
  return {
    ...(usage
      ? {
          promptTokens: usage.prompt_tokens,
          completionTokens: usage.completion_tokens,
          cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
          reasoningTokens: usage.completion_tokens_details?.reasoning_tokens ?? 0,
        }
      : {}),
    ...(typeof speed === 'number' ? { tokensPerSecond: speed } : {}),
  };
}
