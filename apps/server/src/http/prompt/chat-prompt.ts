import type { ChatMessage, RenderInput, ToolDefinition } from '@altstream/minimax-m3-chat';
import type { ChatPromptFields } from '../../openai/chat-request.js';
import type { ServerContext } from '../../server-context.js';
import { thinkingKwargs } from './thinking.js';

/** What the template gets of a chat; every route that shows or counts a prompt renders this. */
export function templateInput(
  request: ChatPromptFields & { readonly tool_choice?: unknown },
  { settings }: ServerContext,
): RenderInput {
  const tools = request.tool_choice === 'none' ? [] : (request.tools ?? []);
  return {
    messages: request.messages.map((message) => templateMessage(message)),
    tools: tools as unknown as ToolDefinition[],
    kwargs: { ...settings.defaultTemplateKwargs, ...thinkingKwargs(request) },
  };
}

/** The message as templates know it. */
function templateMessage(message: ChatPromptFields['messages'][number]): ChatMessage {
  const { reasoning, ...rest } = message;
  const thought = message.reasoning_content ?? reasoning;
  return { ...rest, ...(thought ? { reasoning_content: thought } : {}) } as unknown as ChatMessage;
}
