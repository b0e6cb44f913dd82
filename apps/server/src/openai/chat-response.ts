import type { TokenEvent } from '@altstream/engine';
import type { ParsedOutput } from '@altstream/minimax-m3-chat';
import type { ChoiceFinish } from '../generation/choice.js';
import { type StopShape, stopReason } from '../generation/stop-shape.js';
import { chatLogprob, type TokenText } from './token-text.js';
import { type Usage, usageOf } from './usage.js';

/** What every answer to a request begins with. */
export interface ResponseHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
  readonly system_fingerprint: string;
}

/** A finished choice of a chat. */
export interface FinishedChatChoice {
  readonly output: ParsedOutput;
  readonly finish: ChoiceFinish;
  readonly tokens: readonly TokenEvent[];
}

/** Names of the field of thoughts: sglang's, and vLLM's new one. */
export type ReasoningField = 'reasoning_content' | 'reasoning';

/** What decides how choices are shown. */
export interface ChatShape {
  readonly wantsLogprobs: boolean;
  /** Fields that thoughts have; none leaves them out. */
  readonly reasoningFields: readonly ReasoningField[];
  readonly stops: StopShape;
  readonly tokens: TokenText;
}

/** The body of a chat completion that was not streamed. */
export function chatResponse(
  head: ResponseHead,
  choices: readonly FinishedChatChoice[],
  shape: ChatShape,
): Record<string, unknown> & { readonly usage: Usage } {
  return {
    ...head,
    object: 'chat.completion',
    choices: choices.map((choice, index) => chatChoice(choice, index, shape)),
    usage: usageOf(
      choices.map(({ finish }) => finish.counts),
      choices.length,
    ),
  };
}

function chatChoice(
  { output, finish, tokens }: FinishedChatChoice,
  index: number,
  shape: ChatShape,
): Record<string, unknown> {
  return {
    index,
    message: messageOf(output, shape.reasoningFields),
    logprobs: shape.wantsLogprobs
      ? { content: tokens.map((token) => chatLogprob(token, shape.tokens)), refusal: null }
      : null,
    finish_reason: finish.reason,
    stop_reason: stopReason(finish.stop, shape.stops),
    ...(shape.stops.hasMatchedStop ? { matched_stop: finish.stop } : {}),
  };
}

/** Content is null when there is none. */
function messageOf(
  output: ParsedOutput,
  fields: readonly ReasoningField[],
): Record<string, unknown> {
  const { reasoning, content, toolCalls } = output;
  return {
    role: 'assistant',
    content: content ?? (toolCalls.length > 0 || reasoning !== null ? null : ''),
    refusal: null,
    ...(reasoning === null ? {} : Object.fromEntries(fields.map((field) => [field, reasoning]))),
    ...(toolCalls.length > 0
      ? {
          tool_calls: toolCalls.map((call) => ({
            id: call.id,
            type: 'function',
            function: { name: call.name, arguments: call.arguments },
          })),
        }
      : {}),
  };
}
