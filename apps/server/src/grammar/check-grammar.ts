import { fieldError } from '../openai/parse-body.js';

const mostSchemaBytes = 64 * 1024;
const mostDepth = 32;
const mostProperties = 512;
const mostRepeats = 4096;
const mostPatternBytes = 2048;
const mostRuleBytes = 16 * 1024;
const safe = Number.MAX_SAFE_INTEGER;

/** What the grammar library does not enforce, so that an answer could break the schema. */
const unsupported = [
  'not',
  'if',
  'then',
  'else',
  'multipleOf',
  'contains',
  'minContains',
  'maxContains',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
  'unevaluatedItems',
  '$dynamicRef',
  '$recursiveRef',
];
const bounds = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const;
const counts = [
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
] as const;
const types = ['null', 'boolean', 'integer', 'number', 'object', 'array', 'string'];

type Schema = Record<string, unknown>;

/**
 * Checks a JSON schema before the library sees it: limits, shapes that abort it, and keywords that it
 * would ignore.
 *
 * @returns the schema in a form that the library enforces to the letter
 * @throws ApiError 400 `invalid_schema` that names the place
 */
export function checkSchema(schema: unknown, param: string): unknown {
  const bytes = Buffer.byteLength(JSON.stringify(schema) ?? '');
  if (bytes > mostSchemaBytes) {
    refuse(param, `the schema has ${bytes} bytes, at most ${mostSchemaBytes}`);
  }
  if (schema !== true && !isObject(schema)) refuse(param, 'expected an object');
  return new SchemaCheck(schema, param).check(schema, '#', 0);
}

/** Checks a regular expression's size and repeats. */
export function checkPattern(pattern: string, param: string): void {
  if (Buffer.byteLength(pattern) > mostPatternBytes) {
    throw fieldError(param, `more than ${mostPatternBytes} bytes`, 'invalid_grammar');
  }
  checkRepeats(pattern, param);
}

/** Checks the size of rules, their repeats and that there is a `root`. */
export function checkRules(text: string, param: string): void {
  if (Buffer.byteLength(text) > mostRuleBytes) {
    throw fieldError(param, `more than ${mostRuleBytes / 1024} KiB`, 'invalid_grammar');
  }
  if (!/^\s*root\s*::=/m.test(text)) {
    throw fieldError(param, 'has no rule named `root`', 'invalid_grammar');
  }
  checkRepeats(text, param);
}

function checkRepeats(text: string, param: string): void {
  for (const [, from = '', to = ''] of text.matchAll(/\{\s*(\d+)\s*(?:,\s*(\d*))?\s*\}/g)) {
    if (Math.max(Number(from), Number(to)) <= mostRepeats) continue;
    throw fieldError(param, `repeats more than ${mostRepeats} times`, 'invalid_grammar');
  }
}

class SchemaCheck {
  readonly #root: unknown;
  readonly #param: string;
  #properties = 0;

  constructor(root: unknown, param: string) {
    this.#root = root;
    this.#param = param;
  }

  check(schema: unknown, at: string, depth: number): unknown {
    if (schema === true) return {};
    if (!isObject(schema)) this.#refuse(at, 'expected an object');
    if (depth > mostDepth) this.#refuse(at, `more than ${mostDepth} levels`);
    for (const key of unsupported) {
      if (Object.hasOwn(schema, key)) this.#refuse(at, `\`${key}\` is not supported`);
    }
    if (Array.isArray(schema['type'])) return this.#oneByOne(schema, at, depth);
    if (schema['uniqueItems'] === true) this.#refuse(at, '`uniqueItems` is not supported');
    this.#checkType(schema, at);
    this.#checkCounts(schema, at);
    this.#checkChoices(schema, at);
    if (schema['$ref'] !== undefined) this.#checkReference(schema['$ref'], at);
    if (typeof schema['pattern'] === 'string') this.#checkPattern(schema, at);
    return this.#withChildren(this.#withBounds(schema, at), at, depth);
  }

  #checkType({ type }: Schema, at: string): void {
    if (type === undefined) return;
    const list = Array.isArray(type) ? type : [type];
    const wrong = list.find((one) => !types.includes(one as string));
    if (wrong === undefined && list.length > 0) return;
    this.#refuse(at, `unknown type ${JSON.stringify(wrong ?? type)}, expected ${types.join(', ')}`);
  }

  /** Several types are as many schemas: of a list the library keeps no limits. */
  #oneByOne(schema: Schema, at: string, depth: number): unknown {
    this.#checkType(schema, at);
    const { type, $defs, definitions, ...rest } = schema;
    const some = (type as string[]).map((one) => this.check({ ...rest, type: one }, at, depth + 1));
    const groups = this.#withChildren(
      { ...($defs !== undefined && { $defs }), ...(definitions !== undefined && { definitions }) },
      at,
      depth,
    );
    return some.length === 1 ? { ...(some[0] as Schema), ...groups } : { anyOf: some, ...groups };
  }

  #checkCounts(schema: Schema, at: string): void {
    for (const key of counts) {
      const value = schema[key];
      if (value === undefined) continue;
      if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= mostRepeats) {
        continue;
      }
      this.#refuse(at, `\`${key}\` is ${JSON.stringify(value)}, expected 0 to ${mostRepeats}`);
    }
    for (const [least, most] of [counts.slice(0, 2), counts.slice(2, 4), counts.slice(4, 6)]) {
      const [from, to] = [schema[least ?? ''], schema[most ?? '']];
      if (typeof from !== 'number' || typeof to !== 'number' || from <= to) continue;
      this.#refuse(at, `\`${least}\` is above \`${most}\``);
    }
    const { required } = schema;
    if (required === undefined) return;
    const isList = Array.isArray(required) && required.every((one) => typeof one === 'string');
    if (!isList) this.#refuse(at, '`required` must be a list of names');
  }

  #checkChoices(schema: Schema, at: string): void {
    const { enum: list } = schema;
    if (list !== undefined && (!Array.isArray(list) || list.length === 0)) {
      this.#refuse(at, '`enum` must be a list with at least one value');
    }
    for (const key of ['anyOf', 'oneOf', 'allOf']) {
      const some = schema[key];
      if (some === undefined) continue;
      if (!Array.isArray(some) || some.length === 0) this.#refuse(at, `\`${key}\` is no list`);
      if (key === 'allOf' && (some as unknown[]).length > 1) {
        this.#refuse(at, '`allOf` of more than one schema is not supported; merge them');
      }
      const beside = Object.keys(schema).find((one) => isConstraint(one) && one !== key);
      if (beside) this.#refuse(at, `\`${beside}\` beside \`${key}\` is not supported; move it in`);
    }
  }

  #checkReference(reference: unknown, at: string): void {
    if (typeof reference !== 'string' || !/^#(\/|$)/.test(reference)) {
      this.#refuse(at, `\`$ref\` is ${JSON.stringify(reference)}, expected #/… in this schema`);
    }
    const seen = new Set<unknown>();
    let target: unknown = resolve(this.#root, reference);
    // A reference that only leads to references ends nowhere.
    while (isObject(target) && typeof target['$ref'] === 'string' && !seen.has(target)) {
      seen.add(target);
      target = resolve(this.#root, target['$ref']);
    }
    if (target === undefined) this.#refuse(at, `\`$ref\` ${reference} leads nowhere`);
    if (seen.has(target)) this.#refuse(at, `\`$ref\` ${reference} leads to itself`);
  }

  #checkPattern(schema: Schema, at: string): void {
    const pattern = schema['pattern'] as string;
    if (Buffer.byteLength(pattern) > mostPatternBytes) {
      this.#refuse(at, `\`pattern\` has more than ${mostPatternBytes} bytes`);
    }
    const beside = ['minLength', 'maxLength', 'format'].find((key) => schema[key] !== undefined);
    if (beside) this.#refuse(at, `\`${beside}\` beside \`pattern\` is not supported`);
    checkRepeats(pattern, this.#param);
  }

  /** The library is right about integers between two bounds only. */
  #withBounds(schema: Schema, at: string): Schema {
    const given = bounds.filter((key) => schema[key] !== undefined);
    if (given.length === 0) return schema;
    const { type } = schema;
    const hasNumbers = type === undefined || type === 'number' || type === 'integer';
    if (!hasNumbers)
      return Object.fromEntries(Object.entries(schema).filter(([key]) => !isBound(key)));
    if (type !== 'integer') {
      this.#refuse(at, `\`${given[0]}\` is supported for \`"type": "integer"\` only`);
    }
    const value = (key: (typeof bounds)[number]): number | undefined => {
      const bound = schema[key];
      if (bound === undefined) return undefined;
      if (typeof bound === 'number' && Math.abs(bound) <= safe) return bound;
      return this.#refuse(at, `\`${key}\` is ${JSON.stringify(bound)}, expected a number`);
    };
    const above = value('exclusiveMinimum');
    const below = value('exclusiveMaximum');
    const minimum = Math.max(
      Math.ceil(value('minimum') ?? -safe),
      above === undefined ? -safe : Math.floor(above) + 1,
    );
    const maximum = Math.min(
      Math.floor(value('maximum') ?? safe),
      below === undefined ? safe : Math.ceil(below) - 1,
    );
    if (minimum > maximum) this.#refuse(at, 'no integer lies between its bounds');
    const rest = Object.entries(schema).filter(([key]) => !isBound(key));
    return { ...Object.fromEntries(rest), minimum, maximum };
  }

  #withChildren(schema: Schema, at: string, depth: number): Schema {
    const next = depth + 1;
    const result: Schema = { ...schema };
    for (const key of ['properties', 'patternProperties', '$defs', 'definitions']) {
      const group = schema[key];
      if (group === undefined) continue;
      if (!isObject(group)) this.#refuse(at, `\`${key}\` must be an object`);
      const entries = Object.entries(group).map(([name, one]): [string, unknown] => {
        this.#properties += 1;
        if (this.#properties > mostProperties) {
          this.#refuse(at, `the schema has more than ${mostProperties} properties`);
        }
        if (/["\\\p{Cc}]/u.test(name)) {
          this.#refuse(at, `the name ${JSON.stringify(name)} has quotes or control characters`);
        }
        return [name, this.check(one, `${at}/${key}/${name}`, next)];
      });
      result[key] = Object.fromEntries(entries);
    }
    for (const key of ['items', 'additionalProperties', 'unevaluatedProperties', 'propertyNames']) {
      const one = schema[key];
      if (one === undefined || typeof one === 'boolean') continue;
      result[key] = this.check(one, `${at}/${key}`, next);
    }
    for (const key of ['anyOf', 'oneOf', 'allOf', 'prefixItems']) {
      const some = schema[key];
      if (some === undefined) continue;
      if (!Array.isArray(some)) this.#refuse(at, `\`${key}\` is no list`);
      result[key] = (some as unknown[]).map((one, index) =>
        this.check(one, `${at}/${key}/${index}`, next),
      );
    }
    return this.#withRequired(result);
  }

  /** A required property that is not declared may be anything; the library would forget it. */
  #withRequired(schema: Schema): Schema {
    const { required, properties } = schema;
    if (!Array.isArray(required)) return schema;
    const declared = isObject(properties) ? properties : {};
    const missing = required.filter((name) => !Object.hasOwn(declared, name as string));
    if (missing.length === 0) return schema;
    const { additionalProperties: other = {} } = schema;
    const extra = Object.fromEntries(missing.map((name) => [name, isObject(other) ? other : {}]));
    return { ...schema, properties: { ...declared, ...extra } };
  }

  #refuse(at: string, problem: string): never {
    return refuse(this.#param, at === '#' ? problem : `${at}: ${problem}`);
  }
}

function isBound(key: string): boolean {
  return bounds.some((bound) => bound === key);
}

function isConstraint(key: string): boolean {
  const notes = ['title', 'description', 'default', 'examples', '$defs', 'definitions', '$schema'];
  const more = ['$id', '$comment', 'deprecated', 'readOnly', 'writeOnly', 'nullable'];
  return ![...notes, ...more].includes(key) && !key.startsWith('x-');
}

function resolve(root: unknown, pointer: string): unknown {
  let value = root;
  for (const part of pointer.split('/').slice(1)) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Schema)[key];
  }
  return value;
}

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuse(param: string, problem: string): never {
  throw fieldError(param, problem, 'invalid_schema');
}
