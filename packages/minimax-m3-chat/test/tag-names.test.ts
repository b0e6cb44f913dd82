import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ChatTemplate,
  controlTexts,
  defaultChatTemplate,
  M3OutputParser,
  TagNames,
} from '../src/index.js';

const NS = controlTexts.namespace;
const odd = [
  ...['a<b', '<', '>', 'a>', '>b', '', ' ', ' a', 'a ', 'a\nb', '/b', '//', 'x'.repeat(200)],
  ...['"', "it's", 'a</b>', '<b>', 'größe<', '<item>', '<invoke name="f">', 'ns: ]<'],
];

/** The arguments of one call, whole and letter by letter. */
function read(text: string, properties: Record<string, unknown>): string[] {
  const tools = [{ function: { name: 'f', parameters: { type: 'object', properties } } }];
  return [[text], Array.from(text)].map((pieces) => {
    const parser = new M3OutputParser({ tools });
    for (const piece of pieces) parser.push(piece);
    parser.finish('stop');
    return parser.result().toolCalls[0]?.arguments ?? parser.result().content ?? '';
  });
}

/** A call as the template writes it in the history of a dialogue. */
function written(value: Readonly<Record<string, unknown>>): string {
  const template = new ChatTemplate(defaultChatTemplate, Object.values(controlTexts));
  const call = { function: { name: 'f', arguments: value } };
  const messages = [{ role: 'assistant' as const, tool_calls: [call] }];
  const { text } = template.render({ messages, addGenerationPrompt: false });
  return text.slice(text.lastIndexOf(`${NS}<tool_call>`), -'[e~[\n'.length);
}

describe('names of parameters', () => {
  test.each(odd.filter((name) => !name.includes(']<')))('may be %j', (name) => {
    const properties = { a: { type: 'integer' }, [name]: { type: 'string' } };
    const value = { [name]: `x<y>${name}</z> `, a: 7 };
    const isTag = new TagNames([{ properties }]).isTag(name);
    // Its tag could be that of `a`, and text behind it.
    expect(isTag).toBe(!['a>'].includes(name));
    if (!isTag) return;
    const expected = JSON.stringify(value);
    expect(read(written(value), properties)).toEqual([expected, expected]);
  });

  test.each([
    ['a>b', ['a']],
    ['/a', ['a']],
    ['/a>x', ['a']],
    ['/invoke', []],
    ['/item', []],
    ['/tool_call>', []],
    ['invoke name=x', []],
    [' invoke name="x" y', []],
    ['item>', []],
    ['x]<y', []],
    ['\ud800', []],
    ['x'.repeat(513), []],
    ['a<>b', ['a<']],
  ])('may not be %j where that could be read as another tag', (name, others) => {
    const names = new TagNames([{ properties: { [name]: {} }, required: others }]);
    expect(names.isTag(name)).toBe(false);
    for (const other of others) expect(names.isTag(other)).toBe(true);
  });

  test('come back from the history of a dialogue, whatever they are', () => {
    const letters = fc.constantFrom(
      ...['a', 'b', '<', '>', '/', ' ', '\n', '"', 'é', '😀', 'item'],
    );
    const name = fc.array(letters, { maxLength: 5 }).map((parts) => parts.join(''));
    const text = fc.array(letters, { maxLength: 6 }).map((parts) => parts.join(''));
    const flat = fc.dictionary(name, text, { minKeys: 1, maxKeys: 4, noNullPrototype: true });
    let whole = 0;
    fc.assert(
      fc.property(flat, flat, (outer, inner) => {
        const declared = Object.fromEntries(Object.keys(inner).map((key) => [key, {}]));
        const nested = { type: 'object', properties: declared };
        const properties = {
          ...Object.fromEntries(Object.keys(outer).map((key) => [key, { type: 'string' }])),
          deep: nested,
        };
        const names = new TagNames([{ properties }]);
        const all = [...Object.keys(outer), ...Object.keys(inner)];
        fc.pre(all.every((key) => names.isTag(key)));
        whole += 1;
        const value = { ...outer, deep: inner };
        const expected = JSON.stringify(value);
        expect(read(written(value), properties)).toEqual([expected, expected]);
      }),
      { numRuns: 400 },
    );
    expect(whole).toBeGreaterThan(100);
  });

  test('are read in little time, however many a request has', () => {
    const names = Array.from({ length: 50_000 }, (_, n) => `<${n}${'x'.repeat(n % 300)}`);
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
    const tools = [{ function: { name: 'f', parameters: { properties } } }];
    const parser = new M3OutputParser({ tools });
    const start = performance.now();
    parser.push(`${NS}<tool_call>${NS}<invoke name="f">`);
    for (let n = 0; n < 2000; n++) parser.push(`${NS}<<${n}${'y'.repeat(200)}${NS}<`);
    parser.finish('stop');
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});

test('several elements are a list, where a property `item` may stand, too', () => {
  const a = {
    anyOf: [
      { type: 'array', items: { type: 'integer' } },
      { type: 'object', properties: { item: { type: 'string' } } },
    ],
  };
  const one = (inner: string): string => `${NS}<item>${inner}${NS}</item>`;
  const call = (inner: string): string =>
    `${NS}<tool_call>${NS}<invoke name="f">${NS}<a>${inner}${NS}</a>${NS}</invoke>`;
  expect(read(call(one('1') + one('2')), { a })[0]).toBe('{"a":[1,2]}');
  expect(read(call(one('1')), { a })[0]).toBe('{"a":{"item":"1"}}');
});
