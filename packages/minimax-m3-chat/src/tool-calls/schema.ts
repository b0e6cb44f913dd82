/** The kinds of JSON value that a schema may allow. */
export type JsonType = 'null' | 'boolean' | 'integer' | 'number' | 'object' | 'array' | 'string';

const jsonTypes = new Set<string>([
  'null',
  'boolean',
  'integer',
  'number',
  'object',
  'array',
  'string',
]);
const maxDepth = 32;

type SchemaObject = Readonly<Record<string, unknown>>;

/**
 * What a JSON schema says about one value, as far as converting text needs it. Follows local
 * `$ref` and unites `anyOf`, `oneOf` and `allOf`. Anything malformed counts as "nothing said".
 */
export class ValueSchema {
  /** Allowed types; empty when the schema says nothing about them. */
  readonly types: ReadonlySet<JsonType>;
  /** Allowed values where the schema lists them (`enum`, `const`). */
  readonly choices: readonly unknown[];
  /** The schemas that count, references and alternatives included. */
  readonly variants: readonly SchemaObject[];
  readonly #root: unknown;

  /**
   * @param schema  any JSON schema, or undefined for an undeclared value
   * @param root  the document that `$ref` points into
   * @param others  schemas of the same value, each of which may be the one
   */
  constructor(schema: unknown, root: unknown = schema, others: readonly unknown[] = []) {
    this.#root = root;
    this.variants = flatten([schema, ...others], root);
    const types = this.variants.flatMap(typesOf);
    this.types = new Set(types);
    this.choices = this.variants.flatMap(choicesOf);
  }

  /** True if the schema says anything about the value. */
  get isDeclared(): boolean {
    return this.types.size > 0 || this.choices.length > 0;
  }

  /** True if whatever text arrives is the string itself. */
  get isPlainString(): boolean {
    const choosesText = this.choices.every((choice) => typeof choice === 'string');
    return this.types.size === 1 && this.types.has('string') && choosesText;
  }

  /** True if the text is the string itself, or null where it says so. */
  get isNullableString(): boolean {
    const choosesText = this.choices.every((c) => typeof c === 'string' || c === null);
    return (
      this.types.size === 2 && this.types.has('string') && this.types.has('null') && choosesText
    );
  }

  /** The schema of a property of an object, or null if it is not declared. */
  property(name: string): ValueSchema | null {
    const declared = this.variants.flatMap((variant) => own(variant['properties'], name));
    if (declared.length > 0) return this.#unite(declared);
    const additional = this.variants.flatMap((variant) => own(variant, 'additionalProperties'));
    const schemas = additional.filter((schema) => typeof schema === 'object' && schema !== null);
    return schemas.length > 0 ? this.#unite(schemas) : null;
  }

  /** True if `properties` names it (additionalProperties does not count). */
  hasProperty(name: string): boolean {
    return this.variants.some((variant) => own(variant['properties'], name).length > 0);
  }

  /** The schema of element `index` of an array. */
  item(index: number): ValueSchema {
    const schemas = this.variants.flatMap((variant) => {
      const { prefixItems, items } = variant;
      const tuple = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
      if (index < tuple.length) return [tuple[index]];
      return Array.isArray(items) || items === undefined ? [] : [items];
    });
    return this.#unite(schemas);
  }

  #unite(schemas: readonly unknown[]): ValueSchema {
    const [first, ...others] = schemas;
    return new ValueSchema(first, this.#root, others);
  }
}

/** The schema of a value about which nothing was said. */
export const undeclared = new ValueSchema(undefined);

/** Schemas with their `$ref`s and their alternatives as a flat list. */
function flatten(schemas: readonly unknown[], root: unknown): SchemaObject[] {
  const variants: SchemaObject[] = [];
  const seen = new Set<unknown>();
  const visit = (value: unknown, depth: number): void => {
    if (!isObject(value) || seen.has(value) || depth > maxDepth) return;
    seen.add(value);
    variants.push(value);
    if (typeof value['$ref'] === 'string') visit(resolvePointer(value['$ref'], root), depth + 1);
    for (const key of ['anyOf', 'oneOf', 'allOf']) {
      const alternatives = value[key];
      if (Array.isArray(alternatives)) for (const item of alternatives) visit(item, depth + 1);
    }
  };
  for (const schema of schemas) visit(schema, 0);
  return variants;
}

function typesOf(schema: SchemaObject): JsonType[] {
  const { type } = schema;
  const named = (Array.isArray(type) ? type : [type]).filter(isJsonType);
  if (schema['nullable'] === true) named.push('null');
  if (named.length > 0) return named;
  if (isObject(schema['properties'])) return ['object'];
  if (schema['items'] !== undefined || schema['prefixItems'] !== undefined) return ['array'];
  return choicesOf(schema).map(typeOfValue);
}

function choicesOf(schema: SchemaObject): unknown[] {
  const { enum: list } = schema;
  if (Array.isArray(list)) return list;
  return Object.hasOwn(schema, 'const') ? [schema['const']] : [];
}

function typeOfValue(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return isJsonType(typeof value) ? (typeof value as JsonType) : 'string';
}

function resolvePointer(pointer: string, root: unknown): unknown {
  if (pointer === '#') return root;
  if (!pointer.startsWith('#/')) return undefined;
  let value: unknown = root;
  for (const part of pointer.slice(2).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    value = own(value, key)[0];
  }
  return value;
}

function own(value: unknown, key: string): unknown[] {
  const isHolder = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
  return isHolder ? [(value as Record<string, unknown>)[key]] : [];
}

function isObject(value: unknown): value is SchemaObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isJsonType(value: unknown): value is JsonType {
  return typeof value === 'string' && jsonTypes.has(value);
}
