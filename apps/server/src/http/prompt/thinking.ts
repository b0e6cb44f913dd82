import { thinkingModeOf } from '@altstream/minimax-m3-chat';
import type { ChatPromptFields } from '../../openai/chat-request.js';
import { fieldError } from '../../openai/parse-body.js';

const reserved = ['messages', 'tools', 'add_generation_prompt', 'chat_template', 'tokenize'];

/** Template arguments of a request, with every client's spelling of the thinking mode settled. */
export function thinkingKwargs(request: ChatPromptFields): Record<string, unknown> {
  const given = request.chat_template_kwargs ?? {};
  const taken = reserved.find((name) => Object.hasOwn(given, name));
  if (taken) throw fieldError(`chat_template_kwargs.${taken}`, 'is a name of the template itself');
  const mode = thinkingModeOf({
    kwargs: given,
    thinking: request.thinking ?? null,
    reasoningEffort: request.reasoning_effort,
  });
  const { enable_thinking: _, ...kwargs } = given;
  return mode === undefined ? kwargs : { ...kwargs, thinking_mode: mode };
}
