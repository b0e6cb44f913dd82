import { describe, expect, test } from 'vitest';
import { parseOutput } from '../src/index.js';

const NS = ']<]minimax[>[';
const tag = (name: string, value: string): string => `${NS}<${name}>${value}${NS}</${name}>`;

/** The arguments text of a call with the given parameter tags, for a parameters schema. */
function convert(parameters: unknown, inner: string): string | undefined {
  const tools = [{ function: { name: 'f', parameters } }];
  const raw = `${NS}<tool_call>${NS}<invoke name="f">${inner}${NS}</invoke>${NS}</tool_call>`;
  return parseOutput(raw, { tools }).toolCalls[0]?.arguments;
}

/** The JSON text of parameter `p` of a schema, written as `text`. */
function value(schema: unknown, text: string): string | undefined {
  return convert({ type: 'object', properties: { p: schema } }, tag('p', text))?.slice(5, -1);
}

describe('leaf values by schema', () => {
  test.each([
    [{ type: 'string' }, 'null', '"null"'],
    [{ type: 'string' }, ' 12\n', '" 12\\n"'],
    [{ type: 'string' }, '', '""'],
    [{ type: ['string', 'null'] }, 'Null', 'null'],
    [{ type: ['string', 'null'] }, '', '""'],
    [{ type: ['string', 'null'] }, 'nullable', '"nullable"'],
    [{ type: 'string', nullable: true }, 'NULL', 'null'],
    [{ type: ['integer', 'null'] }, '', 'null'],
    [{ type: ['integer', 'null'] }, 'none', '"none"'],
    [{ type: 'integer' }, ' 42 ', '42'],
    [{ type: 'integer' }, '-007', '-7'],
    [{ type: 'integer' }, '3.0', '3'],
    [{ type: 'integer' }, '3.5', '"3.5"'],
    [{ type: 'integer' }, '1e3', '1000'],
    [{ type: 'integer' }, '12345678901234567890123', '12345678901234567890123'],
    [{ type: 'integer' }, 'many', '"many"'],
    [{ type: 'number' }, '3', '3'],
    [{ type: 'number' }, '2.50', '2.50'],
    [{ type: 'number' }, '.5', '0.5'],
    [{ type: 'number' }, '1e999', '"1e999"'],
    [{ type: 'number' }, 'NaN', '"NaN"'],
    [{ type: 'boolean' }, 'YES', 'true'],
    [{ type: 'boolean' }, 'off', 'false'],
    [{ type: 'boolean' }, 'maybe', '"maybe"'],
    [{ type: ['boolean', 'integer'] }, '1', '1'],
    [{ type: 'object' }, '{"a": [1, "x y"]}', '{"a":[1,"x y"]}'],
    [{ type: 'object' }, '', '{}'],
    [{ type: 'object' }, '{broken', '"{broken"'],
    [{ type: 'array' }, '[1, 2]', '[1,2]'],
    [{ type: 'array', items: { type: 'integer' } }, '7', '[7]'],
    [{ type: 'array' }, '', '[]'],
    [{ enum: [1, 'auto', null] }, '1', '1'],
    [{ enum: [1, 'auto', null] }, 'auto', '"auto"'],
    [{ const: true }, 'true', 'true'],
    [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, '5', '5'],
    [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, 'five', '"five"'],
    [{ oneOf: [{ type: 'null' }, { type: 'boolean' }] }, 'null', 'null'],
    [{}, '5', '"5"'],
    [undefined, '{"a":1}', '"{\\"a\\":1}"'],
    [{ type: 'wrong', enum: 7, properties: [] }, 'x', '"x"'],
  ])('%j reads %j as %s', (schema, text, expected) => {
    expect(value(schema, text)).toBe(expected);
  });

  test('follows local references, cyclic ones included', () => {
    const $defs = { day: { type: 'integer' }, loop: { $ref: '#/$defs/loop' } };
    const properties = {
      a: { $ref: '#/$defs/day' },
      b: { $ref: '#/$defs/loop' },
      c: { $ref: '#/x' },
    };
    const inner = tag('a', '1') + tag('b', '2') + tag('c', '3');
    expect(convert({ type: 'object', properties, $defs }, inner)).toBe('{"a":1,"b":"2","c":"3"}');
  });

  test('types undeclared parameters by additionalProperties', () => {
    expect(convert({ additionalProperties: { type: 'number' } }, tag('p', '1'))).toBe('{"p":1}');
  });
});

describe('nested values', () => {
  const item = (text: string): string => tag('item', text);

  test('uses items and prefixItems for elements', () => {
    const schema = { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'integer' } };
    expect(value(schema, item('1') + item('2') + item('3'))).toBe('["1",2,3]');
  });

  test('gives objects and arrays without a schema, leaves as strings', () => {
    expect(value(undefined, `\n${tag('a', item('1'))}\n${tag('b', '2')}`)).toBe(
      '{"a":["1"],"b":"2"}',
    );
  });

  test('keeps a property that is called item', () => {
    const schema = { type: 'object', properties: { item: { type: 'integer' } } };
    expect(value(schema, item('4'))).toBe('{"item":4}');
  });

  test('ends at 64 levels and never throws', () => {
    const deep = tag('a', 'x').repeat(1);
    const nested = Array.from({ length: 200 }).reduce<string>((inner) => tag('a', inner), deep);
    expect(JSON.parse(`{"p":${value({ type: 'object' }, nested)}}`)).toHaveProperty('p.a.a.a');
  });
});

describe('repeated parameters', () => {
  const properties = { tags: { type: 'array', items: { type: 'integer' } }, s: { type: 'string' } };
  const schema = { type: 'object', properties };

  test('are elements where the schema says array', () => {
    const inner = tag('tags', '1') + tag('tags', '2') + tag('s', 'x');
    expect(convert(schema, inner)).toBe('{"tags":[1,2],"s":"x"}');
    const lists = tag('tags', tag('item', '1')) + tag('tags', tag('item', '2') + tag('item', '3'));
    expect(convert(schema, lists)).toBe('{"tags":[1,2,3]}');
  });

  test('keep the first value otherwise and count the rest', () => {
    const tools = [{ function: { name: 'f', parameters: schema } }];
    const raw = `${NS}<invoke name="f">${tag('s', 'a')}${tag('s', 'b')}${tag('s', 'c')}${NS}</invoke>`;
    const { toolCalls, faults } = parseOutput(raw, { tools });
    expect(toolCalls[0]?.arguments).toBe('{"s":"a"}');
    expect(faults.repeatedParameter).toBe(2);
  });
});

describe('tags that the model left out', () => {
  const schema = { properties: { city: { type: 'string' }, days: { type: 'integer' } } };

  test('a parameter ends where the next declared one begins', () => {
    const inner = `${NS}<city>Oslo${NS}<days>3${NS}</days>`;
    expect(convert(schema, inner)).toBe('{"city":"Oslo","days":3}');
    expect(convert(schema, `${NS}<days>3${NS}<city>Oslo`)).toBe('{"days":3,"city":"Oslo"}');
  });

  test('a string keeps undeclared tags as text, without their markers', () => {
    expect(convert(schema, tag('city', `a${NS}<b>c`))).toBe('{"city":"a<b>c"}');
  });

  test('a call ends where the block or the next call ends', () => {
    const raw = `${NS}<tool_call>${NS}<invoke name="f">${NS}<x>1${NS}<invoke name="g">${NS}</tool_call>`;
    const { toolCalls, faults } = parseOutput(raw);
    expect(toolCalls.map((call) => call.arguments)).toEqual(['{"x":"1"}', '{}']);
    expect(faults.impliedClose).toBe(3);
  });
});
