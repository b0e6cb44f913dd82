import { z } from 'zod';

/** A tool call of an answer. */
export interface AnsweredCall {
  readonly id: string;
  readonly name: string;
  /** JSON as the model wrote it; it may be cut off. */
  readonly arguments: string;
}

/** When the pieces of a streamed answer came, in milliseconds since the request was sent. */
export interface AnswerTiming {
  /**
   * The first piece of text, thought or call; absent when there was none, or nothing was streamed.
   */
  readonly firstMs?: number;
  /** The last such piece. */
  readonly lastMs?: number;
  /** The end of the answer. */
  readonly totalMs: number;
}

/** A whole answer, however it came. */
export interface ChatAnswer {
  readonly content: string;
  readonly reasoning: string;
  readonly toolCalls: readonly AnsweredCall[];
  /** `stop`, `length`, `tool_calls`, or what another server says; null when it says nothing. */
  readonly finishReason: string | null;
  /** Generated tokens; absent when the server does not say. */
  readonly completionTokens?: number;
  readonly timing: AnswerTiming;
}

/** A piece of an answer under way. */
export type AnswerDelta =
  | { readonly type: 'content' | 'reasoning'; readonly text: string }
  | { readonly type: 'call-start'; readonly index: number; readonly name: string }
  | { readonly type: 'call-arguments'; readonly index: number; readonly text: string };

const text = z.string().nullish();
const called = z.looseObject({
  index: z.int().min(0).nullish(),
  id: text,
  function: z.looseObject({ name: text, arguments: text }).nullish(),
});

/** Either shape of OpenAI's answers: `message` of a whole one, `delta` of a chunk. */
const turn = z.looseObject({
  content: text,
  reasoning_content: text,
  reasoning: text,
  tool_calls: z.array(called).nullish(),
});
const usage = z.looseObject({ completion_tokens: z.number().nullish() }).nullish();

/** The body of an answer that is not streamed. */
export const wholeBody = z.looseObject({
  choices: z.array(z.looseObject({ message: turn, finish_reason: text })).min(1),
  usage,
});

/** One frame of a streamed answer. */
export const streamFrame = z.looseObject({
  error: z.looseObject({ message: text }).nullish(),
  choices: z.array(z.looseObject({ delta: turn.nullish(), finish_reason: text })).nullish(),
  usage,
});

/** Puts an answer together from OpenAI's messages, whole or in pieces. */
export class AnswerBuilder {
  readonly #calls: { id: string; name: string; arguments: string }[] = [];
  #content = '';
  #reasoning = '';

  /** @returns what the piece added */
  add(piece: z.infer<typeof turn>): AnswerDelta[] {
    const deltas: AnswerDelta[] = [];
    // Servers that use both names put the same text into both.
    const thought = piece.reasoning_content ?? piece.reasoning ?? '';
    const content = piece.content ?? '';
    this.#reasoning += thought;
    this.#content += content;
    if (thought !== '') deltas.push({ type: 'reasoning', text: thought });
    if (content !== '') deltas.push({ type: 'content', text: content });
    piece.tool_calls?.forEach((call, place) => {
      deltas.push(...this.#addCall(call.index ?? place, call));
    });
    return deltas;
  }

  /** The answer so far. */
  answer(end: Pick<ChatAnswer, 'finishReason' | 'timing' | 'completionTokens'>): ChatAnswer {
    return {
      content: this.#content,
      reasoning: this.#reasoning,
      toolCalls: this.#calls.filter(Boolean),
      ...end,
    };
  }

  #addCall(index: number, { id, function: target }: z.infer<typeof called>): AnswerDelta[] {
    const name = target?.name ?? '';
    const text = target?.arguments ?? '';
    const known = this.#calls[index];
    if (known) {
      known.arguments += text;
      return text === '' ? [] : [{ type: 'call-arguments', index, text }];
    }
    this.#calls[index] = { id: id ?? `call_${index}`, name, arguments: text };
    const start: AnswerDelta = { type: 'call-start', index, name };
    return text === '' ? [start] : [start, { type: 'call-arguments', index, text }];
  }
}
