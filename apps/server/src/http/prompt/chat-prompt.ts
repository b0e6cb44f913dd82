import type { ChatMessage, RenderInput, ToolDefinition } from '@altstream/minimax-m3-chat';
import type { ChatPromptFields } from '../../openai/chat-request.js';
import { fieldError } from '../../openai/parse-body.js';
import type { HttpSettings } from '../../server-context.js';
import { thinkingKwargs } from './thinking.js';

/** What is rendered, and by which template. */
export interface ChatPrompt {
  readonly input: RenderInput;
  /** Of the request; undefined = the server's. */
  readonly template: string | undefined;
}

/**
 * The prompt of a chat; every route that shows or counts one renders this.
 *
 * @throws ApiError 400 for a template of the request where the operator does not trust those
 */
export function chatPromptOf(
  request: ChatPromptFields & { readonly tool_choice?: unknown },
  {
    settings,
  }: {
    readonly settings: Pick<HttpSettings, 'defaultTemplateKwargs' | 'trustsTemplates'>;
  },
): ChatPrompt {
  const tools = request.tool_choice === 'none' ? [] : (request.tools ?? []);
  // Clients that have none to send write an empty one.
  const template = request.chat_template || undefined;
  if (template !== undefined && !settings.trustsTemplates) {
    const problem = 'not taken from requests, unless the server has --trust-request-chat-template';
    throw fieldError('chat_template', problem, 'unsupported_parameter');
  }
  const input = {
    messages: request.messages.map((message) => templateMessage(message)),
    tools: tools as unknown as ToolDefinition[],
    kwargs: { ...settings.defaultTemplateKwargs, ...thinkingKwargs(request) },
  };
  return { input, template };
}

/** The message as templates know it. */
function templateMessage(message: ChatPromptFields['messages'][number]): ChatMessage {
  const { reasoning, ...rest } = message;
  const thought = message.reasoning_content ?? reasoning;
  return { ...rest, ...(thought ? { reasoning_content: thought } : {}) } as unknown as ChatMessage;
}
