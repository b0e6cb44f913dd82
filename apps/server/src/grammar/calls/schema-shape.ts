import { isConstraint, isOfType, typesOfKeywords } from '../schema-keywords.js';

/** Schemas in `allOf` of each other and behind references, as deep as they are followed. */
const mostDepth = 64;
/** Letters of values go by faster than keys. */
const lettersOfStep = 8;

/** A schema object. */
export type Schema = Readonly<Record<string, unknown>>;

/** What a schema says about a value, once its references and groups are settled. */
export type SchemaShape =
  | { readonly kind: 'any'; readonly schema: Schema }
  | { readonly kind: 'choices'; readonly values: readonly unknown[]; readonly schema: Schema }
  /** Each of them is allowed. */
  | { readonly kind: 'schemas'; readonly schemas: readonly unknown[] }
  | { readonly kind: 'types'; readonly types: readonly string[]; readonly schema: Schema };

/** Where a schema is, and who is told of what is done with it. */
export interface SchemaContext {
  /** The document that references point into. */
  readonly root: unknown;
  /** Told of keywords that are lost where schemas are put together. */
  onLoss(keyword: string): void;
  /** Told how much is looked at, and may throw: of nested schemas that may be the square. */
  onLook(steps: number): void;
}

/** What a schema says, itself and by its references and groups. */
export function shapeOf(given: unknown, context: SchemaContext): SchemaShape {
  const schema = settle(given, { ...context, seen: new Set() }) ?? {};
  const list = schema['enum'];
  const values = Array.isArray(list) ? list : 'const' in schema ? [schema['const']] : undefined;
  if (values) return { kind: 'choices', values: fittingOf(values, schema, context), schema };
  const { anyOf, oneOf, ...base } = schema;
  const groups = [anyOf, oneOf].filter((one) => Array.isArray(one) && one.length > 0);
  const [some] = groups as unknown[][];
  if (some) {
    if (groups.length > 1) context.onLoss('oneOf');
    const isAlone = !Object.keys(base).some(isConstraint);
    context.onLook(some.length);
    const possible = some.filter((one) => one !== false);
    const schemas = possible.map((one) => (isAlone ? one : join(base, one, context)));
    return { kind: 'schemas', schemas };
  }
  const types = typesOf(schema);
  return types.length === 0 ? { kind: 'any', schema } : { kind: 'types', types, schema };
}

/** Those of the values that are of the schema's type. */
function fittingOf(
  values: readonly unknown[],
  { type }: Schema,
  { onLook }: SchemaContext,
): readonly unknown[] {
  const types = new Set(listOf(type));
  onLook(values.length * types.size);
  if (type === undefined) return values;
  return values.filter((value) => Array.from(types).some((one) => isOfType(value, one)));
}

/** Declared properties, and those that must be there, in the order in which they are written. */
export function membersOf(schema: Schema): { name: string; value: unknown; isRequired: boolean }[] {
  const properties = isSchema(schema['properties']) ? schema['properties'] : {};
  const required = new Set(namesOf(schema['required']));
  const { additionalProperties: other = {} } = schema;
  const isWritten = (name: string): boolean => properties[name] !== false;
  const declared = Object.keys(properties).filter(isWritten);
  const names = new Set([...declared, ...required]);
  return Array.from(names, (name) => ({
    name,
    value: Object.hasOwn(properties, name) ? properties[name] : other,
    isRequired: required.has(name),
  }));
}

/** Elements of an array. */
export interface Elements {
  /** Schemas of the first ones. */
  readonly first: readonly unknown[];
  /** Schema of the others; false = there are none. */
  readonly other: unknown;
  readonly least: number;
  /** Undefined = any number. */
  readonly most: number | undefined;
}

const mostCount = 4096;

/** What a schema says about the elements of an array. */
export function elementsOf(schema: Schema): Elements {
  const { prefixItems, items, minItems, maxItems } = schema;
  const list = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
  const least = typeof minItems === 'number' ? Math.min(Math.max(0, minItems), mostCount) : 0;
  const most =
    typeof maxItems === 'number' ? Math.min(Math.max(least, maxItems), mostCount) : undefined;
  return { first: list, other: Array.isArray(items) ? undefined : items, least, most };
}

/** True for an object. */
export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface Settling extends SchemaContext {
  readonly seen: Set<unknown>;
}

/** The schema with what its references and `allOf` say; undefined where it says nothing. */
function settle(given: unknown, settling: Settling, depth = 0): Schema | undefined {
  const { root, seen } = settling;
  // One that was seen adds nothing, and may go round.
  if (!isSchema(given) || seen.has(given)) return undefined;
  seen.add(given);
  settling.onLook(Object.keys(given).length);
  const { $ref: reference, allOf, ...own } = given;
  if (typeof reference === 'string') settling.onLook(reference.length);
  const target = typeof reference === 'string' ? resolve(reference, root) : undefined;
  if (reference !== undefined && target === undefined) settling.onLoss('$ref');
  const parts = [target, ...(Array.isArray(allOf) ? allOf : [])];
  if (depth === mostDepth && parts.some(isSchema)) {
    settling.onLoss(isSchema(target) ? '$ref' : 'allOf');
    return own;
  }
  settling.onLook(parts.length);
  const settled = parts.map((one) => settle(one, settling, depth + 1));
  return [...settled, own].reduce<Schema>((sum, one) => join(sum, one, settling), {});
}

/** Both together, as far as that can be told by their keywords. */
function join(one: Schema, other: unknown, context: SchemaContext): Schema {
  if (!isSchema(other)) return one;
  // Each is compared, and copied.
  context.onLook(2 * (sizeOf(one) + sizeOf(other)));
  for (const key of Object.keys(other)) if (isLost(key, one, other, context)) context.onLoss(key);
  if (isClosedTo(one, other) || isClosedTo(other, one)) context.onLoss('additionalProperties');
  const both: Record<string, unknown> = { ...one, ...other };
  if (isSchema(one['properties']) && isSchema(other['properties'])) {
    both['properties'] = { ...one['properties'], ...other['properties'] };
  }
  const required = [...namesOf(one['required']), ...namesOf(other['required'])];
  if (required.length > 0) both['required'] = [...new Set(required)];
  return both;
}

/** How much of a schema is looked at where it is put together with another one. */
function sizeOf(schema: Schema): number {
  const { properties, required } = schema;
  const declared = isSchema(properties) ? Object.keys(properties).length : 0;
  return Object.keys(schema).length + declared + (Array.isArray(required) ? required.length : 0);
}

/** True for a keyword of both of which only the second one's counts from here on. */
function isLost(key: string, one: Schema, other: Schema, { onLook }: SchemaContext): boolean {
  const [before, after] = [one[key], other[key]];
  if (!isConstraint(key) || key === 'required' || before === undefined) return false;
  if (key === 'type') {
    const types = listOf(before);
    onLook(types.length * listOf(after).length);
    return !listOf(after).every((type) => isAmong(type, types));
  }
  if (key === 'properties' && isSchema(before) && isSchema(after)) {
    return Object.keys(after).some(
      (name) => Object.hasOwn(before, name) && !isEqual(before[name], after[name], onLook),
    );
  }
  return !isEqual(before, after, onLook);
}

/** True if a schema forbids properties of another one. */
function isClosedTo(one: Schema, other: Schema): boolean {
  const { additionalProperties: more, properties } = one;
  if (more === undefined || more === true || !isSchema(other['properties'])) return false;
  const declared = isSchema(properties) ? properties : {};
  return Object.keys(other['properties']).some((name) => !Object.hasOwn(declared, name));
}

function isAmong(type: unknown, types: readonly unknown[]): boolean {
  return types.includes(type) || (type === 'integer' && types.includes('number'));
}

function isEqual(one: unknown, other: unknown, onLook: SchemaContext['onLook']): boolean {
  if (one === other) return true;
  const [text = '', otherText = ''] = [JSON.stringify(one), JSON.stringify(other)];
  onLook(Math.ceil((text.length + otherText.length) / lettersOfStep));
  return text === otherText;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

function namesOf(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((one) => typeof one === 'string') : [];
}

function typesOf(schema: Schema): string[] {
  const { type, nullable } = schema;
  const named = (Array.isArray(type) ? type : [type]).filter((one) => typeof one === 'string');
  if (named.length > 0) return [...new Set([...named, ...(nullable === true ? ['null'] : [])])];
  if (isSchema(schema['properties'])) return ['object'];
  if (schema['items'] !== undefined || schema['prefixItems'] !== undefined) return ['array'];
  // A text needs no type to be one.
  const [kind, other] = typesOfKeywords(schema);
  return kind === 'string' && other === undefined ? ['string'] : [];
}

function resolve(reference: string, root: unknown): unknown {
  if (!/^#(\/|$)/.test(reference)) return undefined;
  let value = root;
  for (const part of reference.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Schema)[key];
  }
  return value;
}
