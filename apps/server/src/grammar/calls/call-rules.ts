import { controlTexts, type TagNames, ValueSchema } from '@altstream/minimax-m3-chat';
import { fieldError } from '../../openai/parse-body.js';
import { literal } from '../literal.js';
import { freeElements } from './free-elements.js';
import { heldOfArray, heldOfObject } from './held-counts.js';
import { JsonRules } from './json-rules.js';
import { leafRule } from './leaf-rules.js';
import { ParserView } from './parser-view.js';
import type { RuleList } from './rule-list.js';
import { elementsOf, membersOf, type Schema, type SchemaShape, shapeOf } from './schema-shape.js';
import { sequence } from './sequence.js';
import { type UnheldKeyword, UnheldKeywords } from './unheld-keywords.js';

const marker = literal(controlTexts.namespace);

/** A function that may be called. */
export interface CallableFunction {
  readonly name: string;
  readonly parameters?: unknown;
  /** Its arguments are as the model writes them. Default false. */
  readonly isFree?: boolean;
}

/** A value between tags: where it is, and what the parser will make of it. */
interface Place {
  readonly view: ParserView;
  /** Names of the parameters that it is in. */
  readonly at: string;
}

/** Rules of the calls of one function. */
export class CallRules {
  /** The rule of all between the tags of a call. */
  readonly inner: string;
  readonly #rules: RuleList;
  readonly #names: TagNames;
  readonly #root: unknown;
  readonly #json: JsonRules;
  readonly #unheld = new UnheldKeywords();

  constructor(rules: RuleList, names: TagNames, { parameters, isFree }: CallableFunction) {
    this.#rules = rules;
    this.#names = names;
    this.#root = parameters;
    this.#json = new JsonRules(rules, parameters, this.#unheld);
    const view = new ParserView(new ValueSchema(parameters), (steps) => rules.look(steps));
    const inner = isFree ? freeElements(rules, names) : this.#arguments(parameters, view);
    this.inner = rules.add(inner);
  }

  /** Keywords of its schema that its calls are not held to. */
  get unheld(): readonly UnheldKeyword[] {
    return this.#unheld.all;
  }

  /** Tags of the parameters. */
  #arguments(given: unknown, view: ParserView): string {
    return this.#rules.of('arguments', given, () => this.#argumentsBody(given, view));
  }

  #argumentsBody(given: unknown, view: ParserView): string {
    const place = { view, at: '' };
    const shape = this.#shapeOf(given, place);
    if (shape.kind === 'schemas')
      return shape.schemas.map((one) => this.#arguments(one, view)).join(' | ');
    if (shape.kind !== 'types') {
      this.#unheld.addBeyond([], shape.schema, { type: undefined, at: '' });
      return '""';
    }
    const wrong = membersOf(shape.schema).find(({ name }) => !this.#names.isTag(name));
    if (!wrong) return this.#members(shape.schema, place);
    const problem = `the parameter name ${JSON.stringify(wrong.name)} cannot be a tag of a call that is checked`;
    throw fieldError(this.#rules.param, problem, 'invalid_schema');
  }

  /** In the order of the schema; those not required may be left out. */
  #members(schema: Schema, { view, at }: Place): string {
    this.#unheld.addBeyond(heldOfObject(schema), schema, { type: 'object', at });
    const members = membersOf(schema).map(({ name, value, isRequired }) => {
      const inner = { view: view.property(name), at: at === '' ? name : `${at}.${name}` };
      return { tag: tagged(name, this.#value(value, inner)), isRequired };
    });
    const isEmpty = members.every(({ isRequired }) => !isRequired);
    if (!isEmpty || !view.mistakesEmpty('object')) {
      const parts = members.map(({ tag, isRequired }) => (isRequired ? tag : `(${tag})?`));
      return parts.join(' ') || '""';
    }
    // As JSON where there are none: one tag at least, from the last one on.
    let [more, some] = ['""', literal('{}')];
    for (const { tag } of members.reverse()) {
      const [name, rest] = [this.#rules.add(tag), more];
      more = this.#rules.add(`(${name})? ${rest}`);
      some = this.#rules.add(`${name} ${rest} | ${some}`);
    }
    return some;
  }

  /** The rule for the text between the tags of a value. */
  #value(given: unknown, place: Place): string {
    this.#rules.look(place.view.size);
    const purpose = `tags ${place.view.keyBy((schema) => this.#rules.idOf(schema))}`;
    return this.#rules.of(purpose, given, () => this.#body(given, place));
  }

  #body(given: unknown, place: Place): string {
    const shape = this.#shapeOf(given, place);
    switch (shape.kind) {
      case 'any':
        this.#unheld.addBeyond([], shape.schema, { type: undefined, at: place.at });
        return 'text';
      case 'choices':
        this.#unheld.addBeyond([], shape.schema, { type: undefined, at: place.at });
        return this.#choices(shape.values);
      case 'schemas':
        return shape.schemas.map((one) => this.#value(one, place)).join(' | ') || 'text';
      case 'types':
        return shape.types.map((type) => this.#ofType(type, shape.schema, place)).join(' | ');
    }
  }

  #shapeOf(given: unknown, { at }: Place): SchemaShape {
    return shapeOf(given, {
      root: this.#root,
      onLoss: (keyword) => this.#unheld.add(keyword, at),
      onLook: (steps) => this.#rules.look(steps),
    });
  }

  #choices(values: readonly unknown[]): string {
    const texts = values.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
    const possible = texts.filter((text) => !text.includes(']<'));
    if (possible.length > 0) return this.#rules.oneOf(possible);
    const problem = 'an `enum` or `const` has no value that a call can hold';
    throw fieldError(this.#rules.param, problem, 'invalid_schema');
  }

  #ofType(type: string, schema: Schema, place: Place): string {
    if (type === 'object') return this.#object(schema, place);
    if (type === 'array') return this.#array(schema, place);
    const { view, at } = place;
    const beside = { isBesideJson: view.readsJson, isBesideText: view.hasFreeText };
    return leafRule(type, schema, {
      place: 'plain',
      ...beside,
      at,
      unheld: this.#unheld,
      rules: this.#rules,
    });
  }

  /**
   * JSON where a name cannot be a tag or is free. So, too, where `item` is required and no
   * property: a tag of that name is an element of an array then.
   */
  #object(schema: Schema, place: Place): string {
    const names = membersOf(schema).map(({ name }) => name);
    const isTag = (name: string): boolean =>
      this.#names.isTag(name) && (name !== 'item' || place.view.hasItemProperty);
    const isTags = names.length > 0 && names.every(isTag);
    return isTags ? this.#members(schema, place) : this.#json.object(schema, place.at);
  }

  /** JSON where the parser would take the elements for something else. */
  #array(schema: Schema, { view, at }: Place): string {
    const { first, other, least, most } = elementsOf(schema);
    if (view.hasItemProperty || view.hasTupleBeyond(first.length)) {
      return this.#json.array(schema, at);
    }
    this.#unheld.addBeyond(heldOfArray(schema), schema, { type: 'array', at });
    const item = (one: unknown, index: number): string => {
      const inner = { view: view.item(index), at: `${at}[]` };
      return this.#rules.add(tagged('item', this.#value(one, inner)));
    };
    const tuple = first.map(item);
    const rest = other === false ? undefined : item(other, first.length);
    const parts = { first: tuple, other: rest, most };
    if (least > 0 || !view.mistakesEmpty('array')) {
      return sequence(this.#rules, { ...parts, least });
    }
    const empty = literal('[]');
    if (most === 0 || (tuple.length === 0 && rest === undefined)) return empty;
    return `${empty} | ${sequence(this.#rules, { ...parts, least: 1 })}`;
  }
}

function tagged(name: string, inner: string): string {
  return `${marker} ${literal(`<${name}>`)} ${inner} ${marker} ${literal(`</${name}>`)}`;
}
