import { describe, expect, it } from 'vitest';
import type { ChatAnswer } from '../client/chat-answer.js';
import { wrongness } from './check-answer.js';
import type { AnswerCheck } from './suite-prompt.js';

const says = (content: string, more: Partial<ChatAnswer> = {}): ChatAnswer => ({
  content,
  reasoning: '',
  toolCalls: [],
  finishReason: 'stop',
  timing: { totalMs: 1 },
  ...more,
});
const calls = (...given: [name: string, text: string][]): ChatAnswer =>
  says('', {
    finishReason: 'tool_calls',
    toolCalls: given.map(([name, text], id) => ({ id: String(id), name, arguments: text })),
  });
const tool: AnswerCheck = { type: 'tool_call', name: 'add', arguments: { a: 1, b: { c: [2] } } };
const right = '{"b":{"c":[2]}, "a":1}';

describe('checks of answers', () => {
  it.each<[AnswerCheck, ChatAnswer]>([
    [{ type: 'equals', value: '42' }, says(' 42\n')],
    [{ type: 'contains', value: '42' }, says('It is 42.')],
    [{ type: 'regex', value: '^4\\d$' }, says('42 ')],
    [{ type: 'regex', value: '^.$' }, says('🌦')],
    [{ type: 'refusal' }, says('I’m sorry, I can’t do that.')],
    [{ type: 'refusal', value: 'weather' }, says('I do not know the weather.')],
    [tool, calls(['add', right])],
    [{ type: 'tool_call', name: 'add' }, calls(['add', '{"x":0}'])],
  ])('%o takes %o', (check, answer) => {
    expect(wrongness(check, answer)).toBeUndefined();
  });

  it.each<[AnswerCheck, ChatAnswer, RegExp]>([
    [{ type: 'equals', value: '42' }, says('42.'), /expected "42", received "42\."/],
    [{ type: 'contains', value: '42' }, says('It is 4 2.'), /expected text with "42"/],
    [{ type: 'regex', value: '^4\\d$' }, says('a 42'), /expected a match of/],
    [{ type: 'refusal' }, says('The sum is 4.'), /expected a refusal, received "The sum/],
    [{ type: 'refusal', value: 'weather' }, says('I cannot do that.'), /expected a refusal/],
    [{ type: 'equals', value: '42' }, says('42', { finishReason: 'length' }), /cut off/],
    [{ type: 'equals', value: '' }, calls(['add', '{}']), /expected text, received a call of add/],
    [{ type: 'refusal' }, says(''), /expected a refusal/],
    [tool, says('I would add'), /expected a call of add, received "I would add"/],
    [tool, calls(['sub', right]), /received one of sub/],
    [tool, calls(['add', right], ['add', right]), /expected one call, received 2/],
    [tool, calls(['add', '{"a":1}']), /expected arguments/],
    [tool, calls(['add', '{"a":"1","b":{"c":[2]}}']), /expected arguments/],
    [tool, calls(['add', '{"a":1']), /no JSON object/],
    [tool, calls(['add', '[1]']), /no JSON object/],
    [tool, { ...calls(['add', right]), finishReason: 'length' }, /cut off/],
  ])('%o refuses %o', (check, answer, reason) => {
    expect(wrongness(check, answer)).toMatch(reason);
  });
});
