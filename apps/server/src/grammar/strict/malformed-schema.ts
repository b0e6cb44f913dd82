import { isSchema, type Schema } from '../calls/schema-shape.js';

/** What is no schema, and where: a path such as `properties.city.enum`, '' = the whole. */
export interface MalformedSchema {
  readonly at: string;
  readonly problem: string;
}

const knownTypes: readonly unknown[] = [
  ...['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'],
];

/** Keywords whose value is a schema, a list of schemas, or schemas by name. */
const single = ['items', 'additionalProperties', 'not', 'contains', 'propertyNames'];
const lists = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const maps = ['properties', 'patternProperties', '$defs', 'definitions'];

/**
 * The first place where a schema of arguments is none, or where nothing at all is allowed that must
 * be there. References are not followed: what they name is in the schema itself. Its size has been
 * checked.
 */
export function malformedSchema(parameters: unknown): MalformedSchema | undefined {
  if (parameters === undefined) return undefined;
  if (!isSchema(parameters)) return { at: '', problem: 'must be an object' };
  const { type = 'object' } = parameters;
  if (![type].flat().includes('object')) {
    return { at: 'type', problem: "must be 'object', since arguments have names" };
  }
  const left: { readonly schema: unknown; readonly at: string }[] = [
    { schema: parameters, at: '' },
  ];
  for (let next = left.pop(); next; next = left.pop()) {
    const { schema, at } = next;
    if (typeof schema === 'boolean') continue;
    if (!isSchema(schema)) return { at, problem: 'must be a schema: an object, true or false' };
    const own = problemOf(schema);
    if (own) return { at: join(at, own.at), problem: own.problem };
    for (const inner of innerOf(schema)) left.push({ ...inner, at: join(at, inner.at) });
  }
  return undefined;
}

/** What is wrong with the keywords of one schema. */
function problemOf(schema: Schema): MalformedSchema | undefined {
  const { type, required, properties } = schema;
  const types = Array.isArray(type) ? type : [type];
  if (
    type !== undefined &&
    (types.length === 0 || !types.every((one) => knownTypes.includes(one)))
  ) {
    return { at: 'type', problem: 'must be a type of JSON, or a list of some' };
  }
  if ('enum' in schema && !isFilled(schema['enum'])) {
    return { at: 'enum', problem: 'must be a list that is not empty' };
  }
  for (const keyword of lists) {
    if (keyword in schema && !isFilled(schema[keyword])) {
      return { at: keyword, problem: 'must be a list of schemas that is not empty' };
    }
  }
  for (const keyword of maps) {
    if (keyword in schema && !isSchema(schema[keyword])) {
      return { at: keyword, problem: 'must be an object of schemas' };
    }
  }
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  const none = names.find((name) => isSchema(properties) && properties[String(name)] === false);
  if (none === undefined) return undefined;
  return { at: `properties.${String(none)}`, problem: 'is required, and false allows no value' };
}

function innerOf(schema: Schema): { schema: unknown; at: string }[] {
  const inner: { schema: unknown; at: string }[] = [];
  for (const keyword of single) {
    if (keyword in schema) inner.push({ schema: schema[keyword], at: keyword });
  }
  for (const keyword of lists) {
    const list = schema[keyword];
    if (!Array.isArray(list)) continue;
    for (const [i, one] of list.entries()) inner.push({ schema: one, at: `${keyword}[${i}]` });
  }
  for (const keyword of maps) {
    for (const [name, one] of Object.entries(schema[keyword] ?? {})) {
      inner.push({ schema: one, at: `${keyword}.${name}` });
    }
  }
  // From the last on, so that the first is looked at first.
  return inner.reverse();
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

function join(at: string, inner: string): string {
  return at === '' || inner === '' ? at + inner : `${at}.${inner}`;
}
