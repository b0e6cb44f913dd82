import type { TokenEvent } from '@altstream/engine';
import type { OutputDelta } from '@altstream/minimax-m3-chat';
import type { ChoiceFinish, ChoiceStep } from '../generation/choice.js';
import { stopReason } from '../generation/stop-shape.js';
import type { ChatShape, ReasoningField, ResponseHead } from './chat-response.js';
import { chatLogprob } from './token-text.js';
import type { StreamUsage } from './usage.stream.js';

type Chunk = Record<string, unknown>;

const none: readonly TokenEvent[] = [];

/**
 * Turns steps of a chat's choices into chunks: the role first, then one chunk a delta, and exactly
 * one chunk with the finish reason for each choice.
 */
export class ChatChunks {
  readonly #head: ResponseHead;
  readonly #shape: ChatShape;
  /** Tokens whose text is still held back; they go with the next delta of their choice. */
  readonly #unshown = new Map<number, readonly TokenEvent[]>();
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
    let waiting = this.#unshown.get(index) ?? none;
    if (tokens.length > 0) waiting = waiting.length > 0 ? [...waiting, ...tokens] : tokens;
    const chunks: Chunk[] = [];
    for (const one of deltas) {
      const delta = deltaOf(one, this.#shape.reasoningFields);
      if (delta) chunks.push(this.#chunk(index, delta, chunks.length === 0 ? waiting : none));
    }
    this.#unshown.set(index, chunks.length > 0 ? none : waiting);
    if (finish) chunks.push(this.#closing(index, finish));
    return chunks;
  }

  /** The last chunk when totals were asked for: no choices. */
  ofTotals(totals: Readonly<Record<string, unknown>>): Chunk {
    return { ...this.#head, object: 'chat.completion.chunk', choices: [], ...totals };
  }

  #closing(index: number, finish: ChoiceFinish): Chunk {
    const rest = this.#unshown.get(index) ?? none;
    return this.#chunk(index, {}, rest, finish);
  }

  #chunk(
    index: number,
    delta: Record<string, unknown>,
    tokens: readonly TokenEvent[] = none,
    finish?: ChoiceFinish,
  ): Chunk {
    const logprobs =
      this.#shape.wantsLogprobs && tokens.length > 0
        ? { content: tokens.map((token) => chatLogprob(token, this.#shape.tokens)), refusal: null }
        : null;
    const { id, created, model, system_fingerprint } = this.#head;
    // Of one chunk a token: copies of objects would cost more than writing the chunk.
    const reason = finish?.reason ?? null;
    const choice: Chunk = { index, delta, logprobs, finish_reason: reason };
    if (finish) choice['stop_reason'] = stopReason(finish.stop, this.#shape.stops);
    if (this.#shape.stops.hasMatchedStop) choice['matched_stop'] = finish?.stop ?? null;
    const object = 'chat.completion.chunk';
    const chunk: Chunk = { id, created, model, system_fingerprint, object, choices: [choice] };
    return Object.assign(chunk, this.#usage.field);
  }
}

/** OpenAI's delta for one of the parser's; the end of a call needs none. */
function deltaOf(
  delta: OutputDelta,
  fields: readonly ReasoningField[],
): Record<string, unknown> | undefined {
  switch (delta.type) {
    case 'content-delta':
      return { content: delta.text };
    case 'reasoning-delta':
      return fields.length === 0
        ? undefined
        : Object.fromEntries(fields.map((field) => [field, delta.text]));
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
