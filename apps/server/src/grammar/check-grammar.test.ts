import { describe, expect, it } from 'vitest';
import { checkPattern, checkRules, checkSchema } from './check-grammar.js';

const check = (schema: unknown) => () => checkSchema(schema, 'json');
const nested = (depth: number): unknown =>
  depth === 0 ? { type: 'null' } : { type: 'array', items: nested(depth - 1) };

describe('a schema that is checked', () => {
  it('comes out with what the library enforces to the letter', () => {
    const age = { type: 'integer', exclusiveMinimum: 17.5 };
    expect(checkSchema(age, 'json')).toEqual({
      type: 'integer',
      minimum: 18,
      maximum: Number.MAX_SAFE_INTEGER,
    });
    expect(checkSchema({ type: ['string', 'null'], maxLength: 3 }, 'json')).toMatchObject({
      anyOf: [
        { type: 'string', pattern: '[^"\\\\\\x00-\\x1f]{0,3}' },
        { type: 'null', maxLength: 3 },
      ],
    });
    expect(
      checkSchema({ type: ['integer', 'null'], minimum: 0, maximum: 9 }, 'json'),
    ).toMatchObject({
      anyOf: [{ type: 'integer', minimum: 0, maximum: 9 }, { type: 'null' }],
    });
    const open = { type: 'object', required: ['a'], additionalProperties: { type: 'string' } };
    expect(checkSchema(open, 'json')).toMatchObject({ properties: { a: { type: 'string' } } });
    expect(checkSchema(true, 'json')).toEqual({});
  });

  it.each([
    ['an unknown type', { type: 'text' }, /unknown type "text"/],
    ['a type that is no text', { type: {} }, /unknown type \{\}/],
    ['a wrong shape', [1], /expected an object/],
    ['a far reference', { $ref: 'https://x.y/z' }, /`\$ref` is "https/],
    ['a reference to nowhere', { $ref: '#/$defs/a' }, /leads nowhere/],
    ['a reference in broken percents', { $defs: {}, $ref: '#/$defs/%' }, /leads nowhere/],
    ['a reference to itself', { $defs: { a: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' }, /itself/],
    ['a repeat that is too large', { type: 'string', maxLength: 5000 }, /expected 0 to 4096/],
    ['crossed bounds', { type: 'integer', minimum: 5, maximum: 2 }, /no integer lies/],
    ['bounds of numbers', { type: 'number', minimum: 0 }, /`minimum` is supported for/],
    ['no choices', { enum: [] }, /at least one value/],
    ['what is not enforced', { items: { multipleOf: 3 } }, /#\/items: `multipleOf`/],
    ['two of allOf', { allOf: [{ type: 'string' }, { maxLength: 3 }] }, /merge them/],
    ['a type beside anyOf', { anyOf: [{}], type: 'string' }, /`type` beside `anyOf`/],
    ['a length beside a pattern', { pattern: 'a', minLength: 2 }, /beside `pattern`/],
    ['too many levels', nested(40), /more than 32 levels/],
    ['too many bytes', { description: 'x'.repeat(70_000) }, /at most 65536/],
  ])('refuses %s', (_, schema, message) => {
    expect(check(schema)).toThrow(message);
    expect(check(schema)).toThrow(expect.objectContaining({ status: 400, code: 'invalid_schema' }));
  });

  it('refuses more properties than 512', () => {
    const names = Array.from({ length: 513 }, (_, index) => [`p${index}`, {}]);
    expect(check({ properties: Object.fromEntries(names) })).toThrow(/more than 512 properties/);
  });
});

describe('patterns and rules', () => {
  it('have their sizes and repeats limited', () => {
    expect(() => checkPattern('a{1,4096}', 'regex')).not.toThrow();
    expect(() => checkPattern('a{5000}', 'regex')).toThrow(/repeats more than 4096/);
    expect(() => checkPattern('a'.repeat(2049), 'regex')).toThrow(/2048 bytes/);
    expect(() => checkRules('root ::= "a"', 'ebnf')).not.toThrow();
    expect(() => checkRules('start ::= "a"', 'ebnf')).toThrow(/no rule named `root`/);
    expect(() => checkRules(`root ::= "${'a'.repeat(17_000)}"`, 'ebnf')).toThrow(/16 KiB/);
  });
});
