import { beforeAll, describe, expect, it } from 'vitest';
import { checkSchema } from '../../src/grammar/check-grammar.js';
import type { Grammar } from '../../src/grammar/grammar.js';
import { loadGrammarLibrary } from '../../src/grammar/library.js';
import { schemaRules } from '../../src/grammar/schema-rules.js';
import { type GrammarWalk, startWalk } from './makers/grammar-walk.js';

const grammarOf = (schema: object): Grammar => ({
  kind: 'schema',
  text: JSON.stringify(checkSchema(schema, 'json')),
});
const optional = (count: number) => ({
  type: 'object',
  properties: Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`p${index}`, { enum: ['a', 'b', index] }]),
  ),
  additionalProperties: false,
});

describe('rules of a schema', () => {
  let walk: GrammarWalk;

  beforeAll(async () => {
    walk = await startWalk();
  });

  it('grow with its properties, and no faster', async () => {
    const { Grammar } = loadGrammarLibrary();
    const sizeOf = async (count: number): Promise<number> =>
      (await schemaRules(Grammar, grammarOf(optional(count)).text, true)).split('\n').length;
    const [few, more, many] = [await sizeOf(50), await sizeOf(150), await sizeOf(250)];
    expect(many - more).toBe(more - few);
    expect(many - more).toBeLessThan(15 * 100);
  });

  it('of 300 optional properties compile in a moment', async () => {
    const grammar = grammarOf(optional(300));
    const began = performance.now();
    expect(await walk.takes(grammar, '{"p3": "a", "p299": 299}')).toBe(true);
    expect(performance.now() - began).toBeLessThan(5000);
    expect(await walk.takes(grammar, '{"p299": 299, "p3": "a"}')).toBe(false);
    expect(await walk.takes(grammar, '{"p3": 4}')).toBe(false);
  });

  it.each([
    ['an object', { type: 'object', properties: { a: { type: 'null' } } }, '{~"a"~:~null~}'],
    ['an empty one', { type: 'object', properties: { a: { type: 'null' } } }, '{~}'],
    ['a list', { type: 'array', items: { type: 'null' } }, '[~null~,~null~]'],
    ['a list of anything', { type: 'array' }, '[~{~"a"~:~[~1~,~[~]~]~}~,~2~]'],
  ])('take up to 40 blanks at each place of %s', async (_, schema, form) => {
    const grammar = grammarOf(schema);
    for (const blanks of ['', ' ', '\n\t', ' '.repeat(40)]) {
      expect(await walk.takes(grammar, form.replaceAll('~', blanks))).toBe(true);
    }
    for (const { index: place } of form.matchAll(/~/g)) {
      const text = `${form.slice(0, place)}${' '.repeat(41)}${form.slice(place + 1)}`;
      expect(await walk.takes(grammar, text.replaceAll('~', ''))).toBe(false);
    }
  });

  it.each([
    ...['größe', 'ßdf', 'ÿ0', 'é', '世a', '世0000', '🌦ab', '\u{10ffff}0'],
    ...['\\xdfe', '\\\\xdfe', '\\u00e9', '\\', '\n0', '\u0001'],
  ])('keep each character, whatever follows it: %j', async (text) => {
    const isName = !/["\\\p{Cc}]/u.test(text);
    const names = isName
      ? { type: 'object', properties: { [text]: true } }
      : { const: { a: text } };
    const whole = JSON.stringify(isName ? { [text]: text } : { a: text });
    for (const schema of [{ const: text }, { enum: [text, 'b'] }]) {
      expect(await walk.takes(grammarOf(schema), JSON.stringify(text))).toBe(true);
    }
    expect(await walk.takes(grammarOf(names), whole)).toBe(true);
    if (!isName) return;
    const pattern = `^${text.replaceAll('\\', '\\\\')}$`;
    expect(await walk.takes(grammarOf({ type: 'string', pattern }), JSON.stringify(text))).toBe(
      true,
    );
  });

  it('want a comma between the members of an object within another', async () => {
    const inner = { type: 'object', properties: { a: { const: 1 }, c: { const: 1 } } };
    const grammar = grammarOf({ type: 'object', properties: { o: inner, c: { const: 1 } } });
    const members = ['{"o"  :{"a":\n\n1', '"c" :\n 1}\n', '"c": 1}'];
    expect(await walk.takes(grammar, members.join(','))).toBe(true);
    expect(await walk.takes(grammar, members.slice(0, 2).join('') + members[2])).toBe(false);
    expect(await walk.takes(grammar, '{"o"  :{"c" : 1"a":\n\n1,"c" :\n 1}\n}')).toBe(false);
    expect(await walk.takes(grammar, '{"o"\n\n :{"c"\n  :\n  1"a" :1}}')).toBe(false);
  });

  it.each(['blanks', 'blanks1', 'blanks_0', 'blanks_at_0'])(
    'have names that no reference takes: #/%s',
    async (name) => {
      const properties = { a: { $ref: `#/${name}` } };
      const schema = { type: 'object', properties, required: ['a'], [name]: { const: 'x' } };
      expect(await walk.takes(grammarOf(schema), '{"a": "x"}')).toBe(true);
    },
  );

  it('leave texts as they are that look like rules', async () => {
    const schema = {
      type: 'object',
      properties: { 'blanks ::= [': { $ref: '#/$defs/blanks' } },
      required: ['blanks ::= ['],
      $defs: { blanks: { enum: ['[ \n\t]*', String.raw`[ \n\t]*`, 'blanks'] } },
    };
    for (const value of schema.$defs.blanks.enum) {
      const text = JSON.stringify({ 'blanks ::= [': value });
      expect(await walk.takes(grammarOf(schema), text)).toBe(true);
      expect(await walk.takes(grammarOf(schema), text.replace(/"}$/, ' "}'))).toBe(false);
    }
    const blank = { type: 'string', pattern: '^[ \\n\\t]*$' };
    expect(await walk.takes(grammarOf(blank), JSON.stringify(' \n\t'.repeat(40)))).toBe(true);
  });
});
