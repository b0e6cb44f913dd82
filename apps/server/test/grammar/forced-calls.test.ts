import { seededRandom } from '@altstream/cuda-runtime/testing';
import { controlTexts, M3OutputParser, type ToolDefinition } from '@altstream/minimax-m3-chat';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { toolCallGrammar } from '../../src/grammar/calls/tool-grammar.js';
import { startWalk } from './makers/grammar-walk.js';

const random = seededRandom(11_30);
const below = (count: number): number => random.integer(0, count);
const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
const names = ['a', 'b', 'größe', 'item', 'x y', 'with "quotes"'];
type Schema = Record<string, unknown>;

/** Values with a tag `item`, which is an element of an array where no property is called so. */
const likeArrays: readonly Schema[] = [
  { type: 'object', required: ['item'], additionalProperties: { type: 'integer' } },
  { type: 'object', properties: { a: { type: 'null' } }, required: ['item'] },
  { type: ['array', 'object'], properties: { item: {} }, items: { type: 'null' }, minItems: 1 },
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
  { type: 'object', additionalProperties: { type: 'integer' } },
];

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
      const parameters = { ...object(3, names.slice(0, 5)), $defs };
      const tools = [{ type: 'function', function: { name: 'f', parameters } }] as const;
      const functions = [{ name: 'f', parameters }];
      const grammar = toolCallGrammar(functions, { isSingle: true, param: 'tools' });
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
      { name: 'f', parameters: strict, isFree: true },
      { name: 'g', parameters: strict },
    ];
    const grammar = toolCallGrammar(functions, { isSingle: false, param: 'tools' });
    const ns = controlTexts.namespace;
    const invoke = (name: string, inner: string): string =>
      `${ns}<invoke name="${name}">${inner}${ns}</invoke>\n`;
    const takes = (...calls: readonly string[]) =>
      walk.takes(grammar, `${ns}<tool_call>\n${calls.join('')}${ns}</tool_call>`);
    const tag = (name: string, inner: string): string => `${ns}<${name}>${inner}${ns}</${name}>`;
    const free = tag('invoic', 'x') + tag('b', tag('item', 'no number') + tag('invokes', ''));
    expect(await takes(invoke('f', free), invoke('g', tag('a', '7')))).toBe(true);
    expect(await takes(invoke('f', ''))).toBe(true);
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
    const grammar = toolCallGrammar(functions, { isSingle: true, param: 'tools' });
    const tools = [{ type: 'function', function: functions[0] }];
    const walk = await startWalk(true);
    const kinds = new Set<string>();
    for (let n = 0; n < 30; n += 1) {
      const text = await walk.text(grammar, () => random.uniform(0, 1), 400);
      if (text === undefined) continue;
      const [call] = read(text, tools as never, [text]).result.toolCalls;
      const made = JSON.parse(call?.arguments ?? '') as { a: unknown };
      expect(ajv.validate(parameters, made), `${call?.arguments} of ${text}`).toBe(true);
      kinds.add(Array.isArray(made.a) ? 'array' : 'object');
    }
    expect([...kinds].sort()).toEqual([value['type']].flat().sort());
  });

  const refusal = (parameters: Schema): string => {
    try {
      const { text } = toolCallGrammar([{ name: 'f', parameters }], {
        isSingle: true,
        param: 'tools',
      });
      return `${text.length < 100_000}`;
    } catch (error) {
      return (error as Error).message;
    }
  };

  it('S6: are made in little time, however a schema branches and goes round', () => {
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
  });

  it('are refused where markup cannot show them', () => {
    const named = (name: string) => ({ type: 'object', properties: { [name]: {} } });
    expect(refusal(named('a<b'))).toMatch(/parameter name "a<b" cannot be a tag/);
    const choice = { properties: { a: { enum: ['x]<]y'] } } };
    expect(refusal(choice)).toMatch(/no value that a call can hold/);
  });
});
