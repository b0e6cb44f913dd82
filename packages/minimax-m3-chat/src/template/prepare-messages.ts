import { TemplateError } from '../errors/index.js';
import { controlTexts } from '../text/control-texts.js';
import type { ChatMessage, ChatToolCall } from './messages.js';

/**
 * Brings messages into the one shape that templates expect: content as a single string, tool-call
 * arguments as objects, and thoughts in `reasoning_content` (templates that find them in the
 * content would otherwise look for a marker that is only text to us).
 *
 * @throws TemplateError `CHAT_TEMPLATE_INPUT`, naming the message
 */
export function prepareMessages(messages: readonly ChatMessage[]): Record<string, unknown>[] {
  return messages.map((message, index) => {
    const where = `messages[${index}]`;
    const role: unknown = (message as ChatMessage | null | undefined)?.role;
    if (typeof role !== 'string' || !/^[a-z_]+$/.test(role)) {
      throw inputError(where, 'not an object with a known `role`', 'pass { role, content }');
    }
    const prepared: Record<string, unknown> = { ...message, content: joinParts(message, where) };
    if (message.role === 'assistant') Object.assign(prepared, splitThoughts(prepared));
    if (message.tool_calls) {
      prepared['tool_calls'] = message.tool_calls.map((call, i) =>
        withArgumentsObject(call, `${where}.tool_calls[${i}]`),
      );
    }
    return prepared;
  });
}

/** Parts are joined without a separator, so that a literal cut over two parts is seen whole. */
function joinParts(message: ChatMessage, where: string): string {
  const { content } = message;
  if (content === undefined || content === null) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) {
    throw inputError(`${where}.content`, `a ${typeof content}`, 'pass a string or text parts');
  }
  return content
    .map((part, i) => {
      if (part?.type === 'text' && typeof part.text === 'string') return part.text;
      throw inputError(
        `${where}.content[${i}]`,
        `a part of type ${JSON.stringify(part?.type)}`,
        'only text parts can be rendered',
      );
    })
    .join('');
}

function splitThoughts(message: Record<string, unknown>): Record<string, unknown> {
  const content = message['content'] as string;
  if (typeof message['reasoning_content'] === 'string') return {};
  const end = content.lastIndexOf(controlTexts.thinkClose);
  if (end < 0) return {};
  const thoughts = content.slice(0, end);
  const open = thoughts.lastIndexOf(controlTexts.thinkOpen);
  const start = open < 0 ? 0 : open + controlTexts.thinkOpen.length;
  return {
    reasoning_content: trimNewlines(thoughts.slice(start)),
    content: content.slice(end + controlTexts.thinkClose.length).replace(/^[\r\n]+/, ''),
  };
}

function trimNewlines(text: string): string {
  return text.replace(/^[\r\n]+|[\r\n]+$/g, '');
}

function withArgumentsObject(call: ChatToolCall, where: string): unknown {
  const name = call?.function?.name;
  if (typeof name !== 'string') {
    throw inputError(`${where}.function.name`, `a ${typeof name}`, 'pass a string');
  }
  const raw = call.function.arguments ?? {};
  const parsed = typeof raw === 'string' ? parseArguments(raw, where) : raw;
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw inputError(`${where}.function.arguments`, 'not an object', 'pass a JSON object');
  }
  return { ...call, function: { ...call.function, arguments: parsed } };
}

function parseArguments(text: string, where: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw inputError(
      `${where}.function.arguments`,
      `not JSON (${(cause as Error).message})`,
      'pass the arguments as JSON text of an object',
      { cause },
    );
  }
}

function inputError(
  where: string,
  received: string,
  remedy: string,
  options?: ErrorOptions,
): TemplateError {
  const message = `render: \`${where}\` is ${received}; ${remedy}`;
  return new TemplateError('CHAT_TEMPLATE_INPUT', message, options);
}
