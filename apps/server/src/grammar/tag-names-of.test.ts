import { expect, test } from 'vitest';
import { parseChatRequest } from '../openai/chat-request.js';
import { chatGrammarOf } from './answer-grammar.js';
import { tagNamesOf } from './tag-names-of.js';
import { callRuleOf } from './tool-choice.js';

const toolOf = (name: string, ...parameters: string[]) => ({
  type: 'function',
  function: {
    name,
    parameters: {
      type: 'object',
      properties: Object.fromEntries(parameters.map((one) => [one, { type: 'string' }])),
    },
  },
});

function requestWith(tools: readonly object[], choice: string) {
  const messages = [{ role: 'user', content: 'Hi' }];
  return parseChatRequest({ model: 'm', messages, tools, tool_choice: choice });
}

test('names of parameters are made once for a grammar and all parsers, and not before', () => {
  const request = requestWith([toolOf('f', 'a>b', 'c<d'), toolOf('g', 'a')], 'auto');
  let reads = 0;
  for (const tool of request.tools ?? []) {
    const { parameters } = tool.function;
    const get = (): unknown => {
      reads += 1;
      return parameters;
    };
    Object.defineProperty(tool.function, 'parameters', { get });
  }
  const tagNames = tagNamesOf(request);
  expect(reads).toBe(0);
  const names = tagNames();
  expect(tagNames()).toBe(names);
  expect(reads).toBe(2);
  // A tool that cannot be called has its say.
  expect([names.isTag('a>b'), names.isTag('c<d'), names.isTag('a')]).toEqual([false, true, true]);
});

test('a function that must be called and has more odd names than are tags is refused', () => {
  const names = Array.from({ length: 257 }, (_, n) => `<${n}`);
  const settings = { strictTools: false, hasGrammars: true };
  const grammarOf = (parameters: readonly string[]) => {
    const request = requestWith([toolOf('f', ...parameters)], 'required');
    const calls = { ...callRuleOf(request), tagNames: tagNamesOf(request) };
    return chatGrammarOf(request, calls, settings);
  };
  expect(grammarOf(names.slice(0, 256))?.answer?.grammar.kind).toBe('ebnf');
  expect(() => grammarOf(names)).toThrow(
    expect.objectContaining({
      status: 400,
      code: 'invalid_schema',
      message: expect.stringContaining('"<256" cannot be a tag'),
    }),
  );
});
