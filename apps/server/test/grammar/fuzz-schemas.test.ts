import { seededRandom } from '@altstream/cuda-runtime/testing';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/errors/index.js';
import { checkSchema } from '../../src/grammar/check-grammar.js';
import { startWalk } from './makers/grammar-walk.js';

const random = seededRandom(20_7);
const below = (count: number): number => random.integer(0, count);
const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
const some = (chance: number): boolean => random.uniform(0, 1) < chance;
const names = ['a', 'b', 'c', 'größe', 'x y'];
const patterns = ['^.{2,4}$', '^[^a-z"]+$', 'a|b', '^(?:\\d{2}-)+\\w$', '^\\S\\s?\\S$', '\\\\"'];
const formats = ['date', 'ipv4', 'uuid', 'time', 'nonsense'];

/** A schema as people write them, with a keyword here and there that does not fit. */
function schema(depth: number): Record<string, unknown> {
  const leaf = [
    () => ({ type: 'integer', minimum: below(20) - 10, exclusiveMaximum: 5 + below(200) }),
    () => ({ type: 'number' }),
    () => ({ type: ['boolean', 'null'] }),
    () => ({ type: 'string', minLength: below(3), maxLength: 2 + below(5) }),
    () => ({ type: 'string', pattern: pick(patterns) }),
    () => ({ type: 'string', format: pick(formats) }),
    () => ({ enum: [1, 'a "b"', null, { c: [true] }].slice(below(3)) }),
    () => ({ type: pick(['string', 'integer']), enum: ['a', 7, 'b'] }),
    () => ({ const: pick<unknown>([{ a: 1 }, 'é', [1, 2]]) }),
    () => ({ minLength: 2, maxLength: 4 }),
    () => ({ $ref: '#/$defs/leaf' }),
  ];
  if (depth === 0 || some(0.3)) return pick<() => Record<string, unknown>>(leaf)();
  const groups = [
    () => ({
      type: 'object',
      properties: Object.fromEntries(names.slice(below(4)).map((one) => [one, schema(depth - 1)])),
      ...(some(0.6) && { required: [pick(names)] }),
      ...(some(0.2) && { maxProperties: 1 + below(4) }),
    }),
    () => ({ type: 'array', items: schema(depth - 1), minItems: below(2), maxItems: 1 + below(3) }),
    () => ({ prefixItems: [schema(depth - 1), schema(depth - 1)], items: false, minItems: 2 }),
    () => ({ [pick(['anyOf', 'oneOf'])]: [schema(depth - 1), schema(depth - 1)] }),
  ];
  return pick<() => Record<string, unknown>>(groups)();
}

const junk: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1e308, '', 'object', '#', '#/$defs/a', '(', '[', [], {}, [{}]],
  ...[{ $ref: '#' }, { type: {} }, { enum: [] }, '^a$|', { items: { $ref: '#/items' } }],
];
const keywords = [
  ...['type', 'properties', 'required', 'items', 'prefixItems', 'anyOf', 'oneOf', 'allOf', '$ref'],
  ...['$defs', 'enum', 'const', 'pattern', 'format', 'minLength', 'maxLength', 'minimum', 'not'],
  ...['additionalProperties', 'patternProperties', 'propertyNames', '__proto__', 'maxItems'],
];

/** Anything. */
function nonsense(depth: number): unknown {
  if (depth === 0 || some(0.2)) return pick(junk);
  const entries = Array.from({ length: 1 + below(4) }, () => [pick(keywords), nonsense(depth - 1)]);
  return some(0.1) ? entries : Object.fromEntries(entries);
}

describe('schemas of chance (S6)', () => {
  it('are taken or refused with a reason, each of 10,000, in little time', () => {
    const began = performance.now();
    let refused = 0;
    for (let n = 0; n < 10_000; n += 1) {
      try {
        checkSchema(n % 2 === 0 ? nonsense(4) : schema(3), 'json');
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        expect([error.status, error.code]).toEqual([400, 'invalid_schema']);
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(1000);
    expect(refused).toBeLessThan(9900);
    expect(performance.now() - began).toBeLessThan(30_000);
  });

  it('have answers that validate, every one that is taken', async () => {
    const ajv = new Ajv2020({ strict: false, formats: {}, logger: false, validateFormats: false });
    let walk = await startWalk();
    let texts = 0;
    for (let n = 0; n < 250; n += 1) {
      const $defs = { leaf: { type: 'string', maxLength: 3 } };
      const asked = { ...schema(2), $defs };
      try {
        const text = JSON.stringify(checkSchema(asked, 'json'));
        const grammar = { kind: 'schema', text, isStrict: true } as const;
        const answer = await walk.text(grammar, () => random.uniform(0, 1), 250);
        if (answer === undefined) continue;
        texts += 1;
        // Only `anyOf` is held of `oneOf`.
        const rule = JSON.parse(JSON.stringify(asked).replaceAll('"oneOf"', '"anyOf"'));
        const isValid = ajv.validate(rule, JSON.parse(answer));
        expect(isValid, `${answer} of ${JSON.stringify(asked)}: ${ajv.errorsText()}`).toBe(true);
      } catch (error) {
        if (error instanceof ApiError) continue;
        if (!(error instanceof Error) || error.name !== 'RuntimeError') throw error;
        walk = await startWalk();
      }
    }
    expect(texts).toBeGreaterThan(60);
  }, 120_000);
});
