import { controlTexts } from '@altstream/minimax-m3-chat';
import { fieldError } from '../openai/parse-body.js';
import type { Grammar } from './grammar.js';
import { literal } from './literal.js';

const marker = literal(controlTexts.namespace);
/** Beyond it a schema is taken as "anything": no honest tool is so deep, but a reference may go round. */
const mostDepth = 12;
/** What can be the name of a tag, as the output parser reads it. */
const tagName = /^[^<>\n\r/"\s][^<>\n\r"]{0,60}$/;

type Schema = Readonly<Record<string, unknown>>;

/** A function that may be called. */
export interface CallableFunction {
  readonly name: string;
  readonly parameters?: unknown;
}

/**
 * Calls in the model's own markup as rules: function names, tags of parameters, required ones, types,
 * `enum` and `const` hold. What text cannot show of a schema (`pattern`, lengths, ranges, formats) does not.
 * A value has no `]<` in it, which begins a marker.
 *
 * @param functions those that may be called, at least one
 * @param isSingle exactly one call
 * @throws ApiError 400 for a parameter whose name cannot be a tag
 */
export function toolCallGrammar(
  functions: readonly CallableFunction[],
  { isSingle, param }: { isSingle: boolean; param: string },
): Grammar {
  const rules = new CallRules(param);
  const invokes = functions.map((one, index) => rules.addFunction(one, index));
  const calls = `(${invokes.join(' | ')})${isSingle ? '' : '+'}`;
  const root = `root ::= ${marker} "<tool_call>\\n" ${calls} ${marker} "</tool_call>"`;
  return { kind: 'ebnf', text: [root, ...rules.lines, ...leafRules].join('\n') };
}

/** Text and JSON without the beginning of a marker. */
const leafRules = [
  'text ::= ([^\\]] | "]"+ [^<\\]])* "]"*',
  'integer ::= "-"? ("0" | [1-9] [0-9]{0,15})',
  'number ::= integer ("." [0-9]{1,15})? ([eE] [+-]? [0-9]{1,2})?',
  'boolean ::= "true" | "false"',
  'null ::= "null"',
  'space ::= [ \\n]{0,20}',
  'escape ::= "\\\\" (["\\\\/bfnrt] | "u" [0-9a-fA-F]{4})',
  'string ::= "\\"" (([^"\\\\\\]\\x00-\\x1f] | escape) | "]"+ ([^<"\\\\\\]\\x00-\\x1f] | escape))* "]"* "\\""',
  'value ::= string | number | boolean | null | object | array',
  'object ::= "{" space (string space ":" space value (space "," space string space ":" space value)*)? space "}"',
  'array ::= "[" space (value (space "," space value)*)? space "]"',
];

class CallRules {
  readonly lines: string[] = [];
  readonly #param: string;
  #next = 0;

  constructor(param: string) {
    this.#param = param;
  }

  addFunction({ name, parameters }: CallableFunction, index: number): string {
    const root = isObject(parameters) ? parameters : {};
    const open = literal(`<invoke name="${name}">`);
    const inner = this.#members(root, root, 0);
    const rule = `call${index}`;
    this.lines.push(`${rule} ::= ${marker} ${open} ${inner} ${marker} "</invoke>\\n"`);
    return rule;
  }

  /** Tags of an object's properties, in the order of the schema; those not required may be left out. */
  #members(schema: Schema, root: Schema, depth: number): string {
    const properties = isObject(schema['properties']) ? schema['properties'] : {};
    const required = Array.isArray(schema['required']) ? schema['required'] : [];
    const members = Object.entries(properties).map(([name, value]) => {
      const tag = this.#tag(name, this.#value(value, root, depth + 1));
      return required.includes(name) ? tag : `(${tag})?`;
    });
    return members.length === 0 ? '""' : members.join(' ');
  }

  #tag(name: string, inner: string): string {
    if (!tagName.test(name)) {
      const problem = `the parameter name ${JSON.stringify(name)} cannot be a tag of a forced call`;
      throw fieldError(this.#param, problem, 'invalid_schema');
    }
    return `${marker} ${literal(`<${name}>`)} ${inner} ${marker} ${literal(`</${name}>`)}`;
  }

  /** A rule for the text between the tags of a value. */
  #value(given: unknown, root: Schema, depth: number): string {
    const schema = follow(given, root);
    if (!isObject(schema) || depth > mostDepth) return 'text';
    const list = Array.isArray(schema['enum'])
      ? schema['enum']
      : 'const' in schema
        ? [schema['const']]
        : undefined;
    if (list) return this.#add(list.map(literalOf).join(' | ') || 'text');
    for (const key of ['anyOf', 'oneOf', 'allOf']) {
      const some = schema[key];
      if (!Array.isArray(some) || some.length === 0) continue;
      return this.#add(some.map((one) => this.#value(one, root, depth + 1)).join(' | '));
    }
    const types = typesOf(schema);
    if (types.length === 0) return 'text';
    return this.#add(types.map((type) => this.#ofType(type, schema, root, depth)).join(' | '));
  }

  #ofType(type: unknown, schema: Schema, root: Schema, depth: number): string {
    if (type === 'object') {
      return isObject(schema['properties']) && Object.keys(schema['properties']).length > 0
        ? this.#members(schema, root, depth)
        : 'object';
    }
    if (type === 'array') return this.#items(schema, root, depth);
    const leaves = ['integer', 'number', 'boolean', 'null'];
    return leaves.includes(type as string) ? (type as string) : 'text';
  }

  #items(schema: Schema, root: Schema, depth: number): string {
    const { items, minItems, maxItems } = schema;
    const item = this.#add(this.#tag('item', this.#value(items, root, depth + 1)));
    const least = typeof minItems === 'number' ? Math.min(Math.max(0, minItems), 4096) : 0;
    const most = typeof maxItems === 'number' ? Math.min(Math.max(least, maxItems), 4096) : '';
    return `${item}{${least},${most}}`;
  }

  #add(body: string): string {
    const rule = `value${this.#next++}`;
    this.lines.push(`${rule} ::= ${body}`);
    return rule;
  }
}

function literalOf(value: unknown): string {
  return literal(typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null'));
}

function typesOf(schema: Schema): unknown[] {
  const { type } = schema;
  const named = type === undefined ? [] : Array.isArray(type) ? type : [type];
  const nullable = schema['nullable'] === true && named.length > 0 ? ['null'] : [];
  if (named.length > 0) return [...named, ...nullable];
  if (isObject(schema['properties'])) return ['object'];
  return schema['items'] === undefined ? [] : ['array'];
}

/** The schema behind local references; undefined where they lead nowhere. */
function follow(schema: unknown, root: Schema): unknown {
  let value = schema;
  for (let steps = 0; steps < mostDepth; steps += 1) {
    const reference = isObject(value) ? value['$ref'] : undefined;
    if (typeof reference !== 'string') return value;
    value = reference
      .split('/')
      .slice(1)
      .reduce<unknown>(
        (at, part) =>
          isObject(at) ? at[part.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined,
        root,
      );
  }
  return undefined;
}

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
