import { controlTexts } from '@altstream/minimax-m3-chat';
import { fieldError } from '../../openai/parse-body.js';
import type { Grammar } from '../grammar.js';
import { literal } from '../literal.js';
import { freeElements } from './free-elements.js';
import { JsonRules } from './json-rules.js';
import { listedIntegers } from './listed-integers.js';
import { RuleList } from './rule-list.js';
import { elementsOf, isSchema, membersOf, type Schema, shapeOf } from './schema-shape.js';
import { sequence } from './sequence.js';

const marker = literal(controlTexts.namespace);
/** What can be the name of a tag, as the output parser reads it. */
const tagName = /^[^<>\n\r/"\s][^<>\n\r"]{0,60}$/;
const mostBytes = 2 ** 20;

/** A function that may be called. */
export interface CallableFunction {
  readonly name: string;
  readonly parameters?: unknown;
  /** Its arguments are as the model writes them. Default false. */
  readonly isFree?: boolean;
}

/**
 * Calls in the model's own markup as rules: function names, tags of parameters, required ones,
 * types, `enum`, `const` and numbers of elements hold. What text cannot show of a schema
 * (`pattern`, lengths, most ranges, formats) does not. Objects whose names are free are JSON text.
 * A value has no `]<` in it, which begins a marker.
 *
 * @param functions those that may be called, at least one
 * @param isSingle exactly one call
 * @throws ApiError 400 for a parameter whose name cannot be a tag, and for too many rules
 */
export function toolCallGrammar(
  functions: readonly CallableFunction[],
  { isSingle, param }: { isSingle: boolean; param: string },
): Grammar {
  const rules = new RuleList(param);
  const invokes = functions.map((one) => new CallRules(rules, one).invoke);
  const calls = `(${invokes.join(' | ')})${isSingle ? '' : '+'}`;
  const text = rules.text(`${marker} "<tool_call>\\n" ${calls} ${marker} "</tool_call>"`);
  if (Buffer.byteLength(text) <= mostBytes) return { kind: 'ebnf', text };
  throw fieldError(param, `needs more than ${mostBytes / 1024} KiB of rules`, 'invalid_schema');
}

/** Rules of one function. */
class CallRules {
  /** The rule of the whole call. */
  readonly invoke: string;
  readonly #rules: RuleList;
  readonly #root: unknown;
  readonly #json: JsonRules;

  constructor(rules: RuleList, { name, parameters, isFree }: CallableFunction) {
    this.#rules = rules;
    this.#root = parameters;
    this.#json = new JsonRules(rules, parameters);
    const open = literal(`<invoke name="${name}">`);
    const inner = isFree ? freeElements(rules) : this.#arguments(parameters);
    this.invoke = rules.add(`${marker} ${open} ${inner} ${marker} "</invoke>\\n"`);
  }

  /** Tags of the parameters. */
  #arguments(given: unknown): string {
    return this.#rules.of('arguments', given, () => this.#argumentsBody(given));
  }

  #argumentsBody(given: unknown): string {
    const shape = shapeOf(given, this.#root);
    if (shape.kind === 'schemas')
      return shape.schemas.map((one) => this.#arguments(one)).join(' | ');
    if (shape.kind !== 'types') return '""';
    const wrong = membersOf(shape.schema).find(({ name }) => !tagName.test(name));
    if (!wrong) return this.#members(shape.schema);
    const problem = `the parameter name ${JSON.stringify(wrong.name)} cannot be a tag of a call that is checked`;
    throw fieldError(this.#rules.param, problem, 'invalid_schema');
  }

  /** In the order of the schema; those not required may be left out. */
  #members(schema: Schema): string {
    const members = membersOf(schema).map(({ name, value, isRequired }) => {
      const tag = tagged(name, this.#value(value));
      return isRequired ? tag : `(${tag})?`;
    });
    return members.join(' ') || '""';
  }

  /** The rule for the text between the tags of a value. */
  #value(given: unknown): string {
    return this.#rules.of('tags', given, () => this.#body(given));
  }

  #body(given: unknown): string {
    const shape = shapeOf(given, this.#root);
    if (shape.kind === 'any') return 'text';
    if (shape.kind === 'choices') return this.#choices(shape.values);
    if (shape.kind === 'schemas') return this.#oneOf(shape.schemas);
    const { types, schema } = shape;
    return types.map((type) => this.#ofType(type, schema, types)).join(' | ');
  }

  /** Beside objects and arrays a string must not look like one. */
  #oneOf(schemas: readonly unknown[]): string {
    const shapes = schemas.map((one) => shapeOf(one, this.#root));
    const types = shapes.flatMap((shape) => (shape.kind === 'types' ? shape.types : []));
    const bodies = schemas.map((one, index) => {
      const shape = shapes[index];
      const isText = shape?.kind === 'types' && shape.types.includes('string');
      return isText && hasJson(types)
        ? shape.types.map((type) => this.#ofType(type, shape.schema, types)).join(' | ')
        : this.#value(one);
    });
    return bodies.join(' | ');
  }

  #choices(values: readonly unknown[]): string {
    const texts = values.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
    const possible = texts.filter((text) => !text.includes(']<'));
    if (possible.length > 0) return possible.map(literal).join(' | ');
    const problem = 'an `enum` or `const` has no value that a call can hold';
    throw fieldError(this.#rules.param, problem, 'invalid_schema');
  }

  #ofType(type: string, schema: Schema, beside: readonly string[]): string {
    if (type === 'object') return this.#object(schema);
    if (type === 'array') return this.#array(schema);
    if (type === 'integer') return listedIntegers(schema) ?? type;
    if (['number', 'boolean', 'null'].includes(type)) return type;
    return hasJson(beside) ? 'plain' : 'text';
  }

  /**
   * JSON where a name cannot be a tag or is free. So, too, where `item` is required and no
   * property: a tag of that name is an element of an array then.
   */
  #object(schema: Schema): string {
    const names = membersOf(schema).map(({ name }) => name);
    const isTag = (name: string): boolean =>
      tagName.test(name) && (name !== 'item' || declaresItem(schema));
    const isTags = names.length > 0 && names.every(isTag);
    return isTags ? this.#members(schema) : this.#json.object(schema);
  }

  /** JSON where a tag `item` is a property of the objects that may stand here, too. */
  #array(schema: Schema): string {
    if (declaresItem(schema)) return this.#json.array(schema);
    const { first, other, ...counts } = elementsOf(schema);
    const item = (one: unknown): string => this.#rules.add(tagged('item', this.#value(one)));
    const tuple = first.map(item);
    return sequence(this.#rules, {
      first: tuple,
      other: other === false ? undefined : item(other),
      ...counts,
    });
  }
}

function tagged(name: string, inner: string): string {
  return `${marker} ${literal(`<${name}>`)} ${inner} ${marker} ${literal(`</${name}>`)}`;
}

/** As the output parser asks before it takes tags `item` for elements. */
function declaresItem({ properties }: Schema): boolean {
  return isSchema(properties) && Object.hasOwn(properties, 'item');
}

function hasJson(types: readonly string[]): boolean {
  return types.includes('object') || types.includes('array');
}
