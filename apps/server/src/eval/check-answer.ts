import { isDeepStrictEqual } from 'node:util';
import type { ChatAnswer } from '../client/chat-answer.js';
import type { AnswerCheck } from './suite-prompt.js';

const mostShown = 120;

/**
 * Why an answer is wrong; undefined when it is right. A text check wants text that ended by itself,
 * without tool calls; `tool_call` wants exactly one call.
 */
export function wrongness(check: AnswerCheck, answer: ChatAnswer): string | undefined {
  if (check.type === 'tool_call') return wrongCall(check, answer);
  const [call] = answer.toolCalls;
  if (call) return `expected text, received a call of ${call.name}`;
  const content = answer.content.trim();
  const received = `received ${show(content)}`;
  if (answer.finishReason === 'length') return `cut off by max_tokens; ${received}`;
  switch (check.type) {
    case 'equals':
      return content === check.value ? undefined : `expected ${show(check.value)}, ${received}`;
    case 'contains':
      return content.includes(check.value)
        ? undefined
        : `expected text with ${show(check.value)}, ${received}`;
    case 'regex':
      return new RegExp(check.value, 'u').test(content)
        ? undefined
        : `expected a match of /${check.value}/u, ${received}`;
    case 'refusal':
      return isRefusal(content, check.value) ? undefined : `expected a refusal, ${received}`;
  }
}

function wrongCall(
  { name, arguments: wanted }: Extract<AnswerCheck, { type: 'tool_call' }>,
  { toolCalls, content, finishReason }: ChatAnswer,
): string | undefined {
  const [call, ...more] = toolCalls;
  if (!call) return `expected a call of ${name}, received ${show(content.trim())}`;
  if (more.length > 0) return `expected one call, received ${toolCalls.length}`;
  if (call.name !== name) return `expected a call of ${name}, received one of ${call.name}`;
  if (finishReason === 'length') return `cut off by max_tokens; received ${show(call.arguments)}`;
  const given = parseArguments(call.arguments);
  if (given === undefined) return `arguments are no JSON object: ${show(call.arguments)}`;
  if (wanted === undefined || isDeepStrictEqual(given, wanted)) return undefined;
  return `expected arguments ${show(JSON.stringify(wanted))}, received ${show(call.arguments)}`;
}

function parseArguments(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Phrases by which a polite answer says that it will not or cannot do what was asked. */
const refusals =
  /\b(sorry|apologi[sz]e|afraid|cannot|can't|can not|could not|couldn't|unable to|not able to|won't|will not|do not know|don't know|do not have|don't have)\b/i;

/** @param wanted text that the refusal must hold besides */
function isRefusal(content: string, wanted = ''): boolean {
  return refusals.test(content.replaceAll('’', "'")) && content.includes(wanted);
}

function show(text: string): string {
  return JSON.stringify(text.length > mostShown ? `${text.slice(0, mostShown)}…` : text);
}
