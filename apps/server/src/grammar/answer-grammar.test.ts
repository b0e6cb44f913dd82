import { expect, it } from 'vitest';
import { chatGrammarOf } from './answer-grammar.js';
import { tagNamesOf } from './tag-names-of.js';

const settings = { strictTools: false, hasGrammars: true };

it('S6: refuses schemas of too many values where calls are forced, and takes them elsewhere', () => {
  const values = Array.from({ length: 70_000 }, (_, n) => n);
  const parameters = { type: 'object', properties: { a: { enum: values } } };
  const tools = [{ type: 'function' as const, function: { name: 'f', parameters } }];
  const request = { model: 'm', messages: [], tools };
  const tagNames = tagNamesOf(request);
  const message = /schemas of tools have more than 65536 values together/;
  expect(() => chatGrammarOf(request, { tools, tagNames, must: 'call' }, settings)).toThrow(
    message,
  );
  expect(() =>
    chatGrammarOf(request, { tools, tagNames, must: false }, { ...settings, strictTools: true }),
  ).toThrow(message);
  expect(chatGrammarOf(request, { tools, tagNames, must: false }, settings)).toBeUndefined();
  // Functions that cannot be called count, too: their parameters are tags as well.
  const small = [{ type: 'function' as const, function: { name: 'g', parameters: {} } }];
  const both = { ...request, tools: [...tools, ...small] };
  const calls = { tools: small, tagNames: tagNamesOf(both), must: 'one' as const };
  expect(() => chatGrammarOf(both, calls, settings)).toThrow(message);
});

it('refuses a strict function whose parameters are no schema, and says where', () => {
  const parameters = { type: 'object', properties: { city: { enum: 'x' } } };
  const callOf = (strict: boolean) => {
    const tools = [{ type: 'function' as const, function: { name: 'f', parameters, strict } }];
    const request = { model: 'm', messages: [], tools };
    return chatGrammarOf(request, { tools, tagNames: tagNamesOf(request), must: 'call' }, settings);
  };
  const message =
    'the function "f" is strict, and `properties.city.enum` of its parameters must be';
  expect(() => callOf(true)).toThrow(message);
  expect(callOf(false)?.marker).toBe('inside');
});
