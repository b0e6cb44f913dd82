import { fieldError } from '../openai/parse-body.js';
import { oneOfPattern } from './choices/one-of.js';
import { resolvePointer } from './json-pointer.js';
import { type PatternPlace, PatternProblem, rewritePattern } from './pattern/rewrite-pattern.js';
import {
  formats,
  isConstraint,
  isOfType,
  typesOfKeywords,
  unsupportedKeywords,
} from './schema-keywords.js';

const mostSchemaBytes = 64 * 1024;
const mostDepth = 32;
const mostProperties = 512;
const mostRepeats = 4096;
const mostPatternBytes = 2048;
const mostRuleBytes = 16 * 1024;
const safe = Number.MAX_SAFE_INTEGER;

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
 * Checks a JSON schema before the library sees it: limits, shapes that abort it, and keywords that
 * it would ignore.
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

/**
 * Checks a regular expression's size, repeats and what it is made of.
 *
 * @returns it in a form that the library takes to the letter
 */
export function checkPattern(pattern: string, param: string): string {
  if (Buffer.byteLength(pattern) > mostPatternBytes) {
    throw fieldError(param, `more than ${mostPatternBytes} bytes`, 'invalid_grammar');
  }
  checkRepeats(pattern, param);
  return rewritten(pattern, 'plain', (problem) => {
    throw fieldError(param, problem, 'invalid_grammar');
  });
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

function rewritten(
  pattern: string,
  place: PatternPlace,
  refused: (problem: string) => never,
): string {
  try {
    return rewritePattern(pattern, place);
  } catch (error) {
    if (error instanceof PatternProblem) return refused(error.message);
    throw error;
  }
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
    for (const key of unsupportedKeywords) {
      if (Object.hasOwn(schema, key)) this.#refuse(at, `\`${key}\` is not supported`);
    }
    if (Array.isArray(schema['type'])) return this.#oneByOne(schema, at, depth);
    if (schema['uniqueItems'] === true) this.#refuse(at, '`uniqueItems` is not supported');
    this.#checkType(schema, at);
    this.#checkCounts(schema, at);
    this.#checkChoices(schema, at);
    if (schema['$ref'] !== undefined) {
      this.#checkReference(schema['$ref'], at);
      this.#checkAlone(schema, ['$ref'], at);
    }
    const typed = this.#withType(this.#withValues(schema, at), at);
    const limited = this.#withBounds(this.#withPattern(typed, at), at);
    return withTextsAsPattern(this.#withChildren(limited, at, depth));
  }

  /** The library forgets what stands beside some keywords. */
  #checkAlone(schema: Schema, keywords: readonly string[], at: string): void {
    const beside = Object.keys(schema).find((key) => isConstraint(key) && !keywords.includes(key));
    if (beside) {
      this.#refuse(at, `\`${beside}\` beside \`${keywords[0]}\` is not supported; move it in`);
    }
  }

  /** Values of another type than the schema's would be taken. */
  #withValues(schema: Schema, at: string): Schema {
    const key = ['enum', 'const'].find((one) => Object.hasOwn(schema, one));
    if (!key) return schema;
    this.#checkAlone(schema, [key, 'type'], at);
    const { type } = schema;
    const values = key === 'enum' ? (schema['enum'] as unknown[]) : [schema['const']];
    const fitting = values.filter((value) => type === undefined || isOfType(value, type));
    if (fitting.length === 0) this.#refuse(at, `no value of \`${key}\` is of type ${type}`);
    return key === 'enum' ? { ...schema, enum: fitting } : schema;
  }

  /** Without a type the library forgets most keywords; values of other types would be free. */
  #withType(schema: Schema, at: string): Schema {
    const isOther = ['type', '$ref', 'anyOf', 'oneOf', 'allOf'].some((key) => key in schema);
    const [type, other] = isOther ? [] : typesOfKeywords(schema);
    if (other) this.#refuse(at, `has keywords of ${type} and of ${other}, and no \`type\``);
    return type ? { ...schema, type } : schema;
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
    const { type: _, $defs, definitions, ...rest } = schema;
    const some = this.#typesWithValues(schema).map((one) =>
      this.check({ ...rest, type: one }, at, depth + 1),
    );
    const groups = this.#withChildren(
      { ...($defs !== undefined && { $defs }), ...(definitions !== undefined && { definitions }) },
      at,
      depth,
    );
    return some.length === 1 ? { ...(some[0] as Schema), ...groups } : { anyOf: some, ...groups };
  }

  /** Of several types those that some value has. */
  #typesWithValues({ type, enum: values }: Schema): string[] {
    const all = type as string[];
    const used = Array.isArray(values)
      ? all.filter((one) => values.some((value) => isOfType(value, one)))
      : all;
    return used.length > 0 ? used : all;
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
      this.#checkAlone(schema, [key], at);
    }
  }

  #checkReference(reference: unknown, at: string): void {
    if (typeof reference !== 'string' || !/^#(\/|$)/.test(reference)) {
      this.#refuse(at, `\`$ref\` is ${JSON.stringify(reference)}, expected #/… in this schema`);
    }
    const seen = new Set<unknown>();
    let target: unknown = resolvePointer(this.#root, reference);
    // A reference that only leads to references ends nowhere.
    while (isObject(target) && typeof target['$ref'] === 'string' && !seen.has(target)) {
      seen.add(target);
      target = resolvePointer(this.#root, target['$ref']);
    }
    if (target === undefined) this.#refuse(at, `\`$ref\` ${reference} leads nowhere`);
    if (seen.has(target)) this.#refuse(at, `\`$ref\` ${reference} leads to itself`);
  }

  #withPattern(schema: Schema, at: string): Schema {
    const { pattern, format } = schema;
    const isText = schema['type'] === 'string';
    if (isText && format !== undefined && !formats.includes(format as string)) {
      this.#refuse(at, `the format ${JSON.stringify(format)} is not supported`);
    }
    const lengths = ['minLength', 'maxLength'];
    const key = pattern === undefined ? 'format' : 'pattern';
    const others = key === 'pattern' ? [...lengths, 'format'] : lengths;
    const beside = others.find((one) => schema[one] !== undefined);
    if (isText && schema[key] !== undefined && beside) {
      this.#refuse(at, `\`${beside}\` beside \`${key}\` is not supported`);
    }
    if (isText && key === 'format' && lengths.some((one) => schema[one] !== undefined)) {
      return withLengths(schema);
    }
    if (pattern === undefined) return schema;
    if (typeof pattern !== 'string') this.#refuse(at, '`pattern` must be a text');
    return { ...schema, pattern: this.#pattern(pattern, at) };
  }

  #pattern(pattern: string, at: string): string {
    if (Buffer.byteLength(pattern) > mostPatternBytes) {
      this.#refuse(at, `\`pattern\` has more than ${mostPatternBytes} bytes`);
    }
    checkRepeats(pattern, this.#param);
    return rewritten(pattern, 'json', (problem) => this.#refuse(at, `\`pattern\`: ${problem}`));
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
        const isPattern = key === 'patternProperties';
        if (!isPattern && /["\\\p{Cc}]/u.test(name)) {
          this.#refuse(at, `the name ${JSON.stringify(name)} has quotes or control characters`);
        }
        const written = isPattern ? this.#pattern(name, `${at}/${key}`) : name;
        return [written, this.check(one, `${at}/${key}/${name}`, next)];
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

/**
 * As the library counts lengths, without escapes, but also without the control characters it lets
 * by.
 */
function withLengths(schema: Schema): Schema {
  const { minLength = 0, maxLength = '', ...rest } = schema;
  return { ...rest, pattern: `[^"\\\\\\x00-\\x1f]{${minLength},${maxLength}}` };
}

/** Of lists of texts that share their letters the library would take others. */
function withTextsAsPattern(schema: Schema): Schema {
  const { enum: values, ...rest } = schema;
  if (!Array.isArray(values)) return schema;
  const texts = values.filter((value) => typeof value === 'string');
  const others = values.filter((value) => typeof value !== 'string');
  const pattern = texts.length > 1 ? oneOfPattern(texts) : undefined;
  if (pattern === undefined) return schema;
  const chosen = { type: 'string', pattern };
  return others.length === 0
    ? { ...rest, ...chosen }
    : { ...rest, anyOf: [chosen, { enum: others }] };
}

function isBound(key: string): boolean {
  return bounds.some((bound) => bound === key);
}

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuse(param: string, problem: string): never {
  throw fieldError(param, problem, 'invalid_schema');
}
