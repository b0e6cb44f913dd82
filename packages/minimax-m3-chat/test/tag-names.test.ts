import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ChatTemplate,
  controlTexts,
  defaultChatTemplate,
  M3OutputParser,
  TagNames,
} from '../src/index.js';
import { textWork } from './makers/text-work.js';

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

  const many = (name: (n: number) => string, count = 2000): string[] =>
    Array.from({ length: count }, (_, n) => name(n));
  const ends = '>'.repeat(500);
  test.each([
    ['with many `>`', many((n) => `${n}${ends}`)],
    ['with many `>` in front', many((n) => `${ends}${n}`)],
    ['with spaces before each `>`', many((n) => `${n}${' >'.repeat(250)}`)],
    ['with many spaces', many((n) => `${' '.repeat(400)}${n}>${' '.repeat(90)}<`)],
    ['that close', many((n) => `/${n}${ends}`)],
    ['that begin like others', many((n) => '>'.repeat(n % 510) + n)],
    ['with `<`', many((n) => `<${n}${'x'.repeat(n % 300)}`)],
    ['that are plain', many((n) => `plain_${n}`)],
  ])('are told apart with work that grows like their length: %s', (_, names) => {
    const schemas = [{ properties: Object.fromEntries(names.map((name) => [name, {}])) }];
    const characters = names.join('').length;
    expect(textWork(() => new TagNames(schemas))).toBeLessThan(30 * characters);
  });

  test('are read with work that grows like the output, however many lengths they have', () => {
    const names = many((n) => `<${n}${'x'.repeat(2 * n)}`, 250);
    const tags = new TagNames([{ required: names }]);
    expect(tags.odd).toEqual(names);
    const outputs = names.flatMap((name) => [`<${name}>`, `</${name}>`, `<${name}y`]);
    const characters = outputs.join('').length;
    const work = textWork(() => {
      for (const output of outputs) tags.read(output, 0);
    });
    expect(work).toBeLessThan(10 * characters);
    expect(tags.read(`${outputs[3]} `, 0)).toMatchObject({ name: names[1], isClosing: false });
  });

  test('may be shared by parsers, which ask for them when the first tag comes', () => {
    const tagNames = new TagNames([{ required: ['a<b'] }]);
    let asked = 0;
    const parser = new M3OutputParser({
      tagNames: () => {
        asked += 1;
        return tagNames;
      },
    });
    parser.push(`text${NS}`);
    expect(asked).toBe(0);
    parser.push(`<tool_call>${NS}<invoke name="f">${NS}<a<b>x${NS}</a<b>${NS}</invoke>`);
    parser.finish('stop');
    expect(asked).toBe(1);
    expect(parser.result().toolCalls[0]?.arguments).toBe('{"a<b":"x"}');
  });

  test('may be any number, 256 of which are tags by their declaration alone', () => {
    const odd = many((n) => `<${n}`, 300);
    const plain = many((n) => `p${n}`, 300_000);
    const tags = new TagNames([{ required: [...odd, 'x'] }, { required: plain }]);
    expect(tags.odd).toEqual(odd.slice(0, 256));
    expect(odd.filter((name) => tags.isTag(name))).toEqual(tags.odd);
    expect(['x', ...plain].every((name) => tags.isTag(name))).toBe(true);
    expect(tags.read('<<255>', 0)).toMatchObject({ name: '<255' });
    expect(tags.read('<<256>', 0)).toBe('none');
    const properties = Object.fromEntries(plain.map((name) => [name, {}]));
    expect(new TagNames([{ properties }]).odd).toEqual([]);
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
