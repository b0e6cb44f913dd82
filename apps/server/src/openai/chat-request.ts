import { z } from 'zod';
import { grammarFields, responseFormat } from '../grammar/grammar-fields.js';
import { callRuleOf, toolChoice } from '../grammar/tool-choice.js';
import { checkMinTokens, fieldError, parseBody } from './parse-body.js';
import { samplingFields } from './sampling-fields.js';
import { checkStreamOptions } from './usage.stream.js';

const textPart = z.looseObject({ type: z.string(), text: z.string().optional() });
const content = z.union([z.string(), z.array(textPart)], 'expected text or text parts').nullish();
const toolCall = z.looseObject({
  id: z.string().optional(),
  type: z.literal('function').optional(),
  function: z.looseObject({ name: z.string(), arguments: z.unknown().optional() }),
});
const message = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'root']),
  content,
  name: z.string().optional(),
  tool_calls: z.array(toolCall).nullish(),
  tool_call_id: z.string().optional(),
  reasoning_content: z.string().nullish(),
  reasoning: z.string().nullish(),
});
const tool = z.looseObject({
  type: z.literal('function'),
  function: z.looseObject({
    name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'expected 1–64 of A–Z a–z 0–9 _ -'),
    description: z.string().nullish(),
    parameters: z.record(z.string(), z.unknown()).nullish(),
    strict: z.boolean().nullish(),
  }),
});
/** Two of one name could not be told apart in a call, nor by `tool_choice`. */
const tools = z
  .array(tool)
  .max(256)
  .superRefine((list, context) => {
    const names = list.map((one) => one.function.name);
    const second = names.findIndex((name, index) => names.indexOf(name) < index);
    if (second < 0) return;
    const name = names[second] ?? '';
    const message = `${JSON.stringify(name)} is the name of tools[${names.indexOf(name)}], too; give each function a name of its own`;
    context.addIssue({ code: 'custom', path: [second, 'function', 'name'], message });
  });
const thinkingModes = ['enabled', 'disabled', 'adaptive'] as const;
const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/** Far more than any checkpoint's own. */
const mostTemplateCharacters = 2 ** 18;

/** Fields that make the prompt of a chat; rendering and counting take them, too. */
export const chatPromptFields = {
  messages: z.array(message).min(1).max(4096),
  tools: tools.nullish(),
  reasoning_effort: z.enum(efforts).nullish(),
  thinking: z.looseObject({ type: z.enum(thinkingModes) }).nullish(),
  chat_template: z.string().max(mostTemplateCharacters).nullish(),
  chat_template_kwargs: z
    .looseObject({
      thinking_mode: z.enum(thinkingModes).nullish(),
      enable_thinking: z.boolean().nullish(),
    })
    .nullish(),
} as const;

/** The shape of a chat request. */
export const chatBody = z.looseObject({
  ...samplingFields,
  ...grammarFields,
  ...chatPromptFields,
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).nullish(),
  tool_choice: toolChoice,
  parallel_tool_calls: z.boolean().nullish(),
  response_format: responseFormat,
  include_reasoning: z.boolean().nullish(),
  modalities: z.unknown().optional(),
});

/** A body of `POST /v1/chat/completions`, checked. */
export type ChatRequest = z.infer<typeof chatBody>;

/** The prompt of a chat as the template takes it; `thinking.ts` settles the thinking mode. */
export type ChatPromptFields = z.infer<z.ZodObject<typeof chatPromptFields>>;

const deprecated = ['functions', 'function_call'];
const elsewhere = ['audio', 'web_search_options'];

/** Parses and checks a chat request; every problem is a 400 that names its field. */
export function parseChatRequest(body: unknown): ChatRequest {
  const request = parseBody(chatBody, body);
  for (const field of [...deprecated, ...elsewhere]) refusePresent(request, field);
  checkModalities(request);
  checkMessages(request.messages);
  callRuleOf(request);
  checkStreamOptions(request);
  checkMinTokens(request, request.max_completion_tokens ?? request.max_tokens);
  if (request.top_logprobs != null && !request.logprobs) {
    throw fieldError('top_logprobs', 'needs `logprobs: true`');
  }
  return request;
}

/** Of the kinds of output only text is there, which some clients ask for by name. */
function checkModalities({ modalities }: ChatRequest): void {
  if (modalities == null) return;
  const isList = Array.isArray(modalities);
  if (isList && modalities.length === 0) {
    throw fieldError('modalities', 'an empty list; it has to name at least one, such as ["text"]');
  }
  if (isList && modalities.every((one) => one === 'text')) return;
  throw fieldError('modalities', 'only ["text"] is supported', 'unsupported_parameter');
}

function refusePresent(request: ChatRequest, field: string): void {
  if (request[field] === undefined || request[field] === null) return;
  const remedy = deprecated.includes(field) ? 'use `tools` and `tool_choice`' : 'leave it out';
  throw fieldError(field, `not supported; ${remedy}`, 'unsupported_parameter');
}

/**
 * What the shapes of messages cannot say: contents by role, and parts that this model cannot read.
 */
export function checkMessages(messages: ChatRequest['messages']): void {
  messages.forEach(checkMessage);
}

function checkMessage(message: ChatRequest['messages'][number], index: number): void {
  const at = `messages[${index}]`;
  if (Array.isArray(message.content)) {
    message.content.forEach((part, number) => {
      if (part.type === 'text' && part.text !== undefined) return;
      if (part.type === 'refusal') return;
      if (part.type === 'text') {
        throw fieldError(`${at}.content[${number}].text`, 'a text part needs its `text`');
      }
      const problem = `parts of type ${part.type} are not supported by a text model`;
      throw fieldError(`${at}.content[${number}]`, problem, 'unsupported_content');
    });
  }
  if (message.content == null && message.role !== 'assistant') {
    throw fieldError(`${at}.content`, `a ${message.role} message needs content`);
  }
  if (message.role === 'tool' && message.tool_call_id === undefined) {
    throw fieldError(`${at}.tool_call_id`, 'a tool message names the call that it answers');
  }
}
