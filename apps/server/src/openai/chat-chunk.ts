import type { TokenEvent } from '@altstream/engine';
import type { OutputDelta } from '@altstream/minimax-m3-chat';
import type { ChoiceFinish, ChoiceStep } from '../generation/choice.js';
import type { ChatShape, ResponseHead } from './chat-response.js';
import { chatLogprob } from './token-text.js';
import type { StreamUsage } from './usage.stream.js';

type Chunk = Record<string, unknown>;

/**
 * Turns steps of a chat's choices into chunks: the role first, then one chunk a delta, and exactly
 * one chunk with the finish reason for each choice.
 */
export class ChatChunks {
  readonly #head: ResponseHead;
  readonly #shape: ChatShape;
  /** Tokens whose text is still held back; they go with the next delta of their choice. */
  readonly #unshown = new Map<number, TokenEvent[]>();
  readonly #usage: StreamUsage;

  constructor(head: ResponseHead, shape: ChatShape, usage: StreamUsage) {
    this.#head = head;
    this.#shape = shape;
    this.#usage = usage;
  }

  /** The chunk that opens a choice. */
  opening(index: number): Chunk {
    return this.#chunk(index, { role: 'assistant', content: '' });
  }

  /** The chunks of one step. */
  ofStep(step: ChoiceStep): Chunk[] {
    const { index, deltas, tokens, finish } = step;
    this.#usage.add(step);
    const waiting = [...(this.#unshown.get(index) ?? []), ...tokens];
    const shown = deltas
      .map((delta) => deltaOf(delta, this.#shape.includeReasoning))
      .filter((delta) => delta !== undefined);
    const chunks = shown.map((delta, number) =>
      this.#chunk(index, delta, number === 0 ? waiting : []),
    );
    this.#unshown.set(index, chunks.length > 0 ? [] : waiting);
    if (finish) chunks.push(this.#closing(index, finish));
    return chunks;
  }

  /** The last chunk when totals were asked for: no choices. */
  ofTotals(totals: Readonly<Record<string, unknown>>): Chunk {
    return { ...this.#head, object: 'chat.completion.chunk', choices: [], ...totals };
  }

  #closing(index: number, finish: ChoiceFinish): Chunk {
    const rest = this.#unshown.get(index) ?? [];
    return this.#chunk(index, {}, rest, finish);
  }

  #chunk(
    index: number,
    delta: Record<string, unknown>,
    tokens: readonly TokenEvent[] = [],
    finish?: ChoiceFinish,
  ): Chunk {
    const logprobs =
      this.#shape.wantsLogprobs && tokens.length > 0
        ? { content: tokens.map((token) => chatLogprob(token, this.#shape.tokens)), refusal: null }
        : null;
    const choice = {
      index,
      delta,
      logprobs,
      finish_reason: finish?.reason ?? null,
      ...(finish ? { stop_reason: finish.stop } : {}),
    };
    return {
      ...this.#head,
      object: 'chat.completion.chunk',
      choices: [choice],
      ...this.#usage.field,
    };
  }
}

/** OpenAI's delta for one of the parser's; the end of a call needs none. */
function deltaOf(
  delta: OutputDelta,
  includeReasoning: boolean,
): Record<string, unknown> | undefined {
  switch (delta.type) {
    case 'content-delta':
      return { content: delta.text };
    case 'reasoning-delta':
      return includeReasoning
        ? { reasoning_content: delta.text, reasoning: delta.text }
        : undefined;
    case 'tool-call-start': {
      const { index, id, name } = delta;
      return { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] };
    }
    case 'tool-call-delta':
      return { tool_calls: [{ index: delta.index, function: { arguments: delta.text } }] };
    case 'tool-call-end':
      return undefined;
  }
}
