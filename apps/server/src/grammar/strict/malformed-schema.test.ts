import { expect, test } from 'vitest';
import { malformedSchema } from './malformed-schema.js';

const of = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });

test.each<[unknown, string]>([
  [5, ''],
  [[], ''],
  [{ type: 'array' }, 'type'],
  [{ type: 'objct' }, 'type'],
  [{ type: [] }, 'type'],
  [of({ a: 5 }), 'properties.a'],
  [of({ a: null }), 'properties.a'],
  [of({ a: { enum: 'x' } }), 'properties.a.enum'],
  [of({ a: { enum: [] } }), 'properties.a.enum'],
  [of({ a: { anyOf: [] } }), 'properties.a.anyOf'],
  [of({ a: { anyOf: [{ type: 'string' }, { type: 'text' }] } }), 'properties.a.anyOf[1].type'],
  [of({ a: { type: [] } }), 'properties.a.type'],
  [of({ a: { items: { type: 7 } } }), 'properties.a.items.type'],
  [of({ a: false }, { required: ['a'] }), 'properties.a'],
  [{ properties: [] }, 'properties'],
  [of({}, { $defs: { one: 'x' } }), '$defs.one'],
])('%j is no schema of arguments: %s', (schema, at) => {
  expect(malformedSchema(schema)).toMatchObject({ at });
});

test.each([
  undefined,
  {},
  { type: ['object'] },
  of({ a: true, b: false, c: {} }, { required: ['a', 'd'] }),
  of({ type: { type: ['string', 'null'] }, enum: { enum: [null] } }),
  of({ a: { $ref: '#/$defs/one' } }, { $defs: { one: { items: { anyOf: [true, {}] } } } }),
  of({ a: { enum: [1], oneOf: [{}], not: {}, additionalProperties: false } }),
])('%j is one', (schema) => {
  expect(malformedSchema(schema)).toBeUndefined();
});

test('goes as deep as a schema does', () => {
  let schema: object = { type: 'x' };
  for (let depth = 0; depth < 60_000; depth++) schema = { items: schema };
  const found = malformedSchema(of({ a: schema }));
  expect(found?.problem).toContain('type of JSON');
});
