import { seededRandom } from '@altstream/cuda-runtime/testing';
import {
  controlTexts,
  M3OutputParser,
  TagNames,
  type ToolDefinition,
} from '@altstream/minimax-m3-chat';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import type { CallableFunction } from '../../src/grammar/calls/call-rules.js';
import { toolCallGrammar } from '../../src/grammar/calls/tool-grammar.js';
import type { UnheldKeyword } from '../../src/grammar/calls/unheld-keywords.js';
import type { Grammar } from '../../src/grammar/grammar.js';
import { startWalk } from './makers/grammar-walk.js';

const ns = controlTexts.namespace;
const random = seededRandom(11_30);
const below = (count: number): number => random.integer(0, count);
const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
const names = ['a', 'b', 'größe', 'item', 'x y', 'a<b', '/ "quotes"\n', '<item>', ' '];
type Schema = Record<string, unknown>;

/** Values with a tag `item`, which is an element of an array where no property is called so. */
const likeArrays: readonly Schema[] = [
  { type: 'object', required: ['item'], additionalProperties: { type: 'integer' } },
  { type: 'object', properties: { a: { type: 'null' } }, required: ['item'] },
  { type: ['array', 'object'], properties: { item: {} }, items: { type: 'null' }, minItems: 1 },
  {
    anyOf: [
      { type: 'array', items: { type: 'integer' } },
      { type: 'object', properties: { item: { type: 'boolean' } } },
    ],
  },
  {
    type: ['array', 'null', 'object'],
    items: { type: 'integer' },
    maxItems: 2,
    properties: { a: {} },
  },
];

/** Leaves with keywords that limit them. */
const limited: readonly Schema[] = [
  { type: 'integer', minimum: -1200, maximum: 99_999 },
  { type: 'integer', multipleOf: 6, minimum: 0, maximum: 100 },
  { type: 'number', minimum: 0, exclusiveMaximum: 1 },
  { type: 'number', exclusiveMinimum: -2.5 },
  { type: 'number', multipleOf: 0.5, minimum: 0, description: 'not held' },
  { type: 'string', minLength: 2 },
  { type: 'string', minLength: 1, maxLength: 3 },
  { type: 'string', pattern: '^[a-c]{1,2}-.$' },
  { type: ['string', 'null'], pattern: '^x\\d*$' },
];

const leaves: readonly Schema[] = [
  { type: 'integer' },
  { type: 'integer', minimum: -3, exclusiveMaximum: 12 },
  { type: 'number' },
  { type: ['boolean', 'null'] },
  { type: 'string' },
  { type: 'string', nullable: true },
  { type: ['string', 'null', 'integer'] },
  { type: ['string', 'object'] },
  { type: ['array', 'string'], items: { type: 'integer' } },
  { enum: [1, 'a "b"', null, { c: [true] }] },
  { type: 'string', enum: ['a', 7, 'null', ' b '] },
  { const: [1, 'é'] },
  {},
  { $ref: '#/$defs/leaf' },
  { type: 'object' },
  { type: 'object', required: ['a', 'x/y'] },
  ...likeArrays,
  ...limited.filter(({ description }) => !description),
  { type: 'object', additionalProperties: { type: 'integer' } },
  { type: 'object', additionalProperties: limited[0] },
];

/** The grammar of calls, and what it does not hold of their schemas. */
function callsOf(
  functions: readonly CallableFunction[],
  isSingle = true,
): { readonly grammar: Grammar; readonly unheld: readonly UnheldKeyword[] } {
  const tags = new TagNames(functions.map(({ parameters }) => parameters));
  const { grammar, unheld } = toolCallGrammar(functions, { isSingle, param: 'tools', names: tags });
  return { grammar, unheld: unheld.flat() };
}

function schema(depth: number, used = names): Schema {
  if (depth === 0 || below(4) === 0) return pick(leaves);
  const groups: (() => Schema)[] = [
    () => object(depth, used),
    () => object(depth, used),
    () => ({ type: 'array', items: schema(depth - 1), minItems: below(2), maxItems: 1 + below(3) }),
    () => ({ type: 'array', items: schema(depth - 1), nullable: true }),
    () => ({ type: 'array', prefixItems: [schema(depth - 1), schema(depth - 1)], items: false }),
    () => ({ type: 'array', prefixItems: [schema(depth - 1)], items: schema(0), minItems: 2 }),
    () => ({ anyOf: [schema(0), { type: 'null' }] }),
    () => ({ allOf: [object(depth, ['a', 'b']), { required: ['b'] }] }),
    () => ({ $ref: '#/$defs/tree' }),
    () => ({ type: 'object', additionalProperties: schema(depth - 1) }),
  ];
  return pick(groups)();
}

function object(depth: number, used: readonly string[]): Schema {
  const all = used.slice(below(used.length)).map((one) => [one, schema(depth - 1)]);
  return { type: 'object', properties: Object.fromEntries(all), required: [pick(used)] };
}

const $defs = {
  leaf: { type: 'integer', enum: [1, 22] },
  tree: {
    type: 'object',
    properties: {
      v: { type: 'boolean' },
      next: { anyOf: [{ $ref: '#/$defs/tree' }, { type: 'null' }] },
    },
    required: ['v'],
  },
};

/** Arguments of the calls, given whole and in pieces. */
function read(text: string, tools: readonly ToolDefinition[], pieces: readonly string[]) {
  const parser = new M3OutputParser({ start: 'outside', tools: [...tools], parseToolCalls: true });
  let streamed = '';
  const deltas = [...pieces.flatMap((piece) => parser.push(piece)), ...parser.finish()];
  for (const delta of deltas) if (delta.type === 'tool-call-delta') streamed += delta.text;
  expect(text).toBe(pieces.join(''));
  return { result: parser.result(), streamed };
}

describe('forced calls of tools of chance', () => {
  it('have arguments that validate, streamed and whole', async () => {
    const ajv = new Ajv2020({ strict: false, logger: false });
    const walk = await startWalk(true);
    let calls = 0;
    for (let n = 0; n < 120; n += 1) {
      const parameters = { ...object(3, names), $defs };
      const tools = [{ type: 'function', function: { name: 'f', parameters } }] as const;
      const { grammar, unheld } = callsOf([{ name: 'f', parameters }]);
      expect(unheld, JSON.stringify(parameters)).toEqual([]);
      const text = await walk.text(grammar, () => random.uniform(0, 1), 600);
      if (text === undefined) continue;
      calls += 1;
      const whole = read(text, tools as never, [text]);
      const cut = read(text, tools as never, Array.from(text));
      const [call] = whole.result.toolCalls;
      const facts = `${text} of ${JSON.stringify(parameters)}`;
      expect(call?.arguments, facts).toBeDefined();
      expect([cut.streamed, whole.streamed], facts).toEqual([call?.arguments, call?.arguments]);
      const isValid = ajv.validate(parameters, JSON.parse(call?.arguments ?? ''));
      expect(isValid, `${call?.arguments} of ${facts}: ${ajv.errorsText()}`).toBe(true);
    }
    expect(calls).toBeGreaterThan(40);
  }, 120_000);

  it('leave arguments of a function that is not checked as they are', async () => {
    const walk = await startWalk(true);
    const strict = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] };
    const functions = [
      { name: 'f', parameters: { ...strict, required: ['a', '<odd>'] }, isFree: true },
      { name: 'g', parameters: strict },
    ];
    const { grammar } = callsOf(functions, false);
    const invoke = (name: string, inner: string): string =>
      `${ns}<invoke name="${name}">${inner}${ns}</invoke>\n`;
    const takes = (...calls: readonly string[]) =>
      walk.takes(grammar, `${ns}<tool_call>\n${calls.join('')}${ns}</tool_call>`);
    const tag = (name: string, inner: string): string => `${ns}<${name}>${inner}${ns}</${name}>`;
    const free = tag('invoic', 'x') + tag('b', tag('item', 'no number') + tag('invokes', ''));
    expect(await takes(invoke('f', free), invoke('g', tag('a', '7')))).toBe(true);
    expect(await takes(invoke('f', ''))).toBe(true);
    expect(await takes(invoke('f', tag('b', tag('<odd>', '')) + tag('<odd>', 'x')))).toBe(true);
    expect(await takes(invoke('f', tag('<other>', 'x')))).toBe(false);
    expect(await takes(invoke('g', free))).toBe(false);
    expect(await takes(invoke('g', tag('a', 'x')))).toBe(false);
    // Its end is the end of the call, wherever it comes.
    expect(await takes(invoke('f', tag('invoke', 'x')))).toBe(false);
    expect(await takes(invoke('f', `${ns}<b>x${ns}</invoke>`))).toBe(false);
    expect(await takes(invoke('h', ''))).toBe(false);
  });

  it.each(likeArrays)('tell objects from arrays in %j', async (value) => {
    const ajv = new Ajv2020({ strict: false, logger: false });
    const parameters = { type: 'object', properties: { a: value }, required: ['a'] };
    const functions = [{ name: 'f', parameters }];
    const { grammar } = callsOf(functions);
    const tools = [{ type: 'function', function: functions[0] }];
    const walk = await startWalk(true);
    const kinds = new Set<string>();
    for (let n = 0; n < 60; n += 1) {
      const text = await walk.text(grammar, () => random.uniform(0, 1), 400);
      if (text === undefined) continue;
      const [call] = read(text, tools as never, [text]).result.toolCalls;
      const made = JSON.parse(call?.arguments ?? '') as { a: unknown };
      expect(ajv.validate(parameters, made), `${call?.arguments} of ${text}`).toBe(true);
      kinds.add(made.a === null ? 'null' : Array.isArray(made.a) ? 'array' : 'object');
    }
    const { anyOf = [value] } = value as { anyOf?: readonly Schema[] };
    expect([...kinds].sort()).toEqual(anyOf.flatMap(({ type }) => type).sort());
  });

  /** A value as a call shows it where its place may have an array or an object with `item`. */
  const shown = (value: unknown): string => {
    const tag = (name: string, inner: string): string => `${ns}<${name}>${inner}${ns}</${name}>`;
    if (Array.isArray(value)) return JSON.stringify(value);
    if (typeof value !== 'object' || value === null) {
      return typeof value === 'string' ? value : JSON.stringify(value);
    }
    const members = Object.entries(value).map(([name, inner]) => tag(name, shown(inner)));
    return members.length === 0 ? '{}' : members.join('');
  };

  it('take each value of an array or an object with `item` in one form, which is read back', async () => {
    const walk = await startWalk(true);
    const scalars: readonly [Schema, () => unknown][] = [
      [{ type: 'integer' }, () => below(100) - 50],
      [{ type: 'boolean' }, () => below(2) === 1],
      [{ type: 'string' }, () => pick(['x', '', 'a b', 'é]', '7'])],
    ];
    let [arrays, objects, tags] = [0, 0, 0];
    for (let n = 0; n < 150; n += 1) {
      const [[element, makeElement], [property, makeProperty]] = [pick(scalars), pick(scalars)];
      const [hasOther, isRequired, isNullable] = [below(2), below(2), below(2)].map(
        (one) => one > 0,
      );
      const array = { type: 'array', items: element };
      const other = hasOther ? { z: { type: 'integer' } } : {};
      const properties = { item: property, ...other };
      const object = { type: 'object', properties, ...(isRequired && { required: ['item'] }) };
      const some = pick([
        [array, object],
        [object, array],
      ]);
      const alternatives = [...some, ...(isNullable ? [{ type: 'null' }] : [])];
      // The alternatives may be those of what the value is in, too.
      const inner = below(2) > 0;
      const a = inner
        ? {
            anyOf: alternatives.map((one) => ({
              type: 'object',
              properties: { v: one },
              required: ['v'],
            })),
          }
        : { [pick(['anyOf', 'oneOf'])]: alternatives };
      const parameters = { type: 'object', properties: { a }, required: ['a'] };
      const { grammar } = callsOf([{ name: 'f', parameters }]);
      const isArray = below(2) > 0;
      const made = isArray
        ? Array.from({ length: below(4) }, makeElement)
        : {
            ...((isRequired || below(2) > 0) && { item: makeProperty() }),
            ...(hasOther && below(2) > 0 && { z: below(9) }),
          };
      const value = inner ? { v: made } : made;
      const text =
        `${ns}<tool_call>\n${ns}<invoke name="f">${ns}<a>${shown(value)}${ns}</a>` +
        `${ns}</invoke>\n${ns}</tool_call>`;
      const facts = `${text} of ${JSON.stringify(parameters)}`;
      const isWithoutTags = !isArray && Object.keys(made).length === 0;
      if (!isWithoutTags) expect(await walk.takes(grammar, text), facts).toBe(true);
      const tools = [{ type: 'function', function: { name: 'f', parameters } }];
      const [call] = read(text, tools as never, [text]).result.toolCalls;
      expect(JSON.parse(call?.arguments ?? ''), facts).toEqual({ a: value });
      if (isArray) arrays += 1;
      else objects += 1;
      // Elements as tags would be read as the property.
      if (!Array.isArray(made) || made.length !== 1) continue;
      tags += 1;
      const asTags = text.replace(JSON.stringify(made), `${ns}<item>${shown(made[0])}${ns}</item>`);
      const [asObject] = read(asTags, tools as never, [asTags]).result.toolCalls;
      expect(JSON.parse(asObject?.arguments ?? ''), asTags).not.toEqual({ a: value });
    }
    expect(Math.min(arrays, objects)).toBeGreaterThan(40);
    expect(tags).toBeGreaterThan(5);
  });

  it.each(limited)('hold %j', async (leaf) => {
    const ajv = new Ajv2020({ strict: false, logger: false });
    const walk = await startWalk(true);
    const parameters = {
      type: 'object',
      properties: { tag: leaf, json: { type: 'object', additionalProperties: leaf } },
      required: ['tag', 'json'],
    };
    const { grammar, unheld } = callsOf([{ name: 'f', parameters }]);
    if (leaf['description']) {
      expect(unheld).toEqual([{ keyword: 'multipleOf', at: 'tag' }]);
      return;
    }
    expect(unheld).toEqual([]);
    const tools = [{ type: 'function', function: { name: 'f', parameters } }];
    const made = new Set<string>();
    for (let n = 0; n < 40; n += 1) {
      const text = await walk.text(grammar, () => random.uniform(0, 1), 400);
      if (text === undefined) continue;
      const [call] = read(text, tools as never, [text]).result.toolCalls;
      const isValid = ajv.validate(parameters, JSON.parse(call?.arguments ?? ''));
      expect(isValid, `${call?.arguments} of ${text}`).toBe(true);
      made.add(call?.arguments ?? '');
    }
    expect(made.size).toBeGreaterThan(5);
  });

  const string = { type: 'string' };
  it.each<[string, Schema, readonly [keyword: string, at: string][]]>([
    ['not', { ...string, not: { const: 'x' } }, [['not', 'a']]],
    ['if', { ...string, if: {} }, [['if', 'a']]],
    ['multipleOf', { type: 'integer', multipleOf: 7 }, [['multipleOf', 'a']]],
    ['uniqueItems', { type: 'array', uniqueItems: true }, [['uniqueItems', 'a']]],
    ['uniqueItems: false', { type: 'array', uniqueItems: false }, []],
    [
      'contains',
      { type: 'array', contains: {}, minContains: 1 },
      [
        ['contains', 'a'],
        ['minContains', 'a'],
      ],
    ],
    ['minProperties', { type: 'object', minProperties: 1 }, [['minProperties', 'a']]],
    [
      'patternProperties',
      { type: 'object', patternProperties: { x: {} } },
      [['patternProperties', 'a']],
    ],
    ['propertyNames', { type: 'object', propertyNames: string }, [['propertyNames', 'a']]],
    ['a format that is none', { ...string, format: 'color' }, [['format', 'a']]],
    ['a pattern with look-ahead', { ...string, pattern: '(?=a)b' }, [['pattern', 'a']]],
    ['lengths beside a pattern', { ...string, pattern: 'a', minLength: 1 }, [['minLength', 'a']]],
    ['limits beside `enum`', { enum: [1, 2], minimum: 2 }, [['minimum', 'a']]],
    ['a limit without a type', { minimum: 2 }, [['minimum', 'a']]],
    ['a text without a type', { minLength: 2 }, []],
    ['keywords of other types', { ...string, minimum: 2, minItems: 3 }, []],
    ['a reference out of it', { $ref: 'https://a.example/b' }, [['$ref', 'a']]],
    [
      'two bounds in allOf',
      { allOf: [{ type: 'integer', minimum: 5 }, { minimum: 1 }] },
      [['minimum', 'a']],
    ],
    ['the same bound twice', { allOf: [{ type: 'integer', minimum: 5 }, { minimum: 5 }] }, []],
    ['bounds beside any text', { type: ['number', 'string'], minimum: 2 }, [['minimum', 'a']]],
    [
      'bounds beside a word',
      { anyOf: [{ type: 'integer', minimum: 2 }, { const: 'all' }, { enum: ['none'] }] },
      [],
    ],
    ['anyOf beside oneOf', { anyOf: [string], oneOf: [string] }, [['oneOf', 'a']]],
    ['text that may be JSON', { type: ['string', 'array'], maxLength: 3 }, [['maxLength', 'a']]],
    [
      'a closed part',
      {
        allOf: [{ properties: { x: {} }, additionalProperties: false }, { properties: { y: {} } }],
      },
      [['additionalProperties', 'a']],
    ],
    [
      'deep ones',
      {
        type: 'array',
        items: { type: 'object', properties: { p: { type: 'array', uniqueItems: true } } },
      },
      [['uniqueItems', 'a[].p']],
    ],
    [
      'deep ones in JSON',
      { type: 'object', additionalProperties: { type: 'number', multipleOf: 3 } },
      [['multipleOf', 'a.*']],
    ],
    ['a type that is none', { type: 'date' }, [['type', 'a']]],
    ['a property that must not be', { type: 'object', properties: { x: false, y: {} } }, []],
  ])('say what they do not hold: %s', (_, a, expected) => {
    const parameters = { type: 'object', properties: { a } };
    const { unheld } = callsOf([{ name: 'f', parameters }]);
    expect(unheld.map(({ keyword, at }) => [keyword, at])).toEqual(expected);
  });

  const refusal = (parameters: Schema): string => {
    try {
      const { text } = callsOf([{ name: 'f', parameters }]).grammar;
      return `${text.length < 100_000}`;
    } catch (error) {
      return (error as Error).message;
    }
  };

  it('S6: are made or refused, however a schema branches and goes round', () => {
    const refs = Object.fromEntries([...'abcdefghij'].map((one) => [one, { $ref: '#/$defs/t' }]));
    const $defs = { t: { type: 'object', properties: refs } };
    expect(refusal({ ...$defs.t, $defs })).toBe('true');
    const all = Array.from({ length: 20 }, () => ({ $ref: '#' }));
    expect(refusal({ type: 'object', anyOf: all })).toMatch(/more than 64 levels|4096 rules/);
    expect(refusal({ type: 'object', properties: { a: { allOf: all } } })).toBe('true');
    expect(refusal({ type: 'object', allOf: all, properties: { a: { type: 'string' } } })).toBe(
      'true',
    );
    const wide = Array.from({ length: 5000 }, (_, n) => [`p${n}`, { type: 'string' }]);
    const properties = Object.fromEntries(wide);
    expect(refusal({ type: 'object', properties })).toMatch(/more than 4096 rules/);
    // Every alternative is read by the schemas of all of them.
    const alike = (count: number): Schema => {
      const some = Array.from({ length: count }, () => ({
        type: 'object',
        properties: { p: { type: 'object', properties: { q: { type: 'string' } } } },
      }));
      return { type: 'object', properties: { a: { anyOf: some } } };
    };
    expect(refusal(alike(100))).toBe('true');
    expect(refusal(alike(1300))).toMatch(/more than 131072 steps/);
  });

  it('are refused where markup cannot show them', () => {
    const named = (name: string) => ({ type: 'object', properties: { [name]: {} } });
    expect(refusal(named('a]<b'))).toMatch(/parameter name "a\]<b" cannot be a tag/);
    const like = { type: 'object', properties: { a: {}, 'a>b': {} } };
    expect(refusal(like)).toMatch(/parameter name "a>b" cannot be a tag/);
    expect(refusal(named('invoke name=x'))).toMatch(/"invoke name=x" cannot be a tag/);
    for (const name of ['a<b', ' a', 'a\nb', '', '1st name', 'größe', 'x'.repeat(200), '"']) {
      expect(refusal(named(name))).toBe('true');
    }
    const choice = { properties: { a: { enum: ['x]<]y'] } } };
    expect(refusal(choice)).toMatch(/no value that a call can hold/);
  });
});
