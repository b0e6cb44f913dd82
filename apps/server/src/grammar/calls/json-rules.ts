import { literal } from '../literal.js';
import { heldOfArray, heldOfObject } from './held-counts.js';
import { leafRule } from './leaf-rules.js';
import type { RuleList } from './rule-list.js';
import { elementsOf, isSchema, membersOf, type Schema, shapeOf } from './schema-shape.js';
import { sequence } from './sequence.js';
import type { UnheldKeywords } from './unheld-keywords.js';

const comma = 'space "," space';

/** Rules for values as JSON text, as the values of tags may be where tags cannot show them. */
export class JsonRules {
  readonly #rules: RuleList;
  readonly #root: unknown;
  readonly #unheld: UnheldKeywords;

  constructor(rules: RuleList, root: unknown, unheld: UnheldKeywords) {
    this.#rules = rules;
    this.#root = root;
    this.#unheld = unheld;
  }

  /**
   * The rule of a value.
   *
   * @param at names of the parameters that it is in
   */
  value(given: unknown, at: string): string {
    return this.#rules.of('json', given, () => this.#body(given, at));
  }

  /** An object, in braces. */
  object(schema: Schema, at: string): string {
    const all = membersOf(schema);
    const members = all.filter(({ name }) => !name.includes(']<'));
    if (all.some((one) => one.isRequired && !members.includes(one))) {
      this.#unheld.add('required', at);
    }
    this.#unheld.addBeyond(heldOfObject(schema), schema, { type: 'object', at });
    if (members.length === 0) return this.#map(schema, at);
    // What follows a member, from the last one on: with a comma, or as the first.
    let [more, first] = ['""', '""'];
    for (const { name, value, isRequired } of members.reverse()) {
      const inner = this.value(value, `${at}.${name}`);
      const member = `${literal(JSON.stringify(name))} space ":" space ${inner}`;
      const rest = more;
      more = this.#rules.add(
        isRequired ? `${comma} ${member} ${rest}` : `(${comma} ${member})? ${rest}`,
      );
      first = this.#rules.add(isRequired ? `${member} ${rest}` : `${member} ${rest} | ${first}`);
    }
    return `"{" space ${first} space "}"`;
  }

  /** An array, in brackets. */
  array(schema: Schema, at: string): string {
    const { first, other, ...counts } = elementsOf(schema);
    this.#unheld.addBeyond(heldOfArray(schema), schema, { type: 'array', at });
    const tuple = first.map((one) => this.value(one, `${at}[]`));
    const rest = other === false ? undefined : this.value(other, `${at}[]`);
    const parts = { first: tuple, other: rest, ...counts, separator: comma };
    return `"[" space ${sequence(this.#rules, parts)} space "]"`;
  }

  #body(given: unknown, at: string): string {
    const shape = shapeOf(given, {
      root: this.#root,
      onLoss: (keyword) => this.#unheld.add(keyword, at),
      onLook: (steps) => this.#rules.look(steps),
    });
    switch (shape.kind) {
      case 'any':
        this.#unheld.addBeyond([], shape.schema, { type: undefined, at });
        return 'value';
      case 'choices': {
        this.#unheld.addBeyond([], shape.schema, { type: undefined, at });
        const texts = shape.values.map((value) => JSON.stringify(value));
        const possible = texts.filter((text) => !text.includes(']<'));
        return this.#rules.oneOf(possible) || 'value';
      }
      case 'schemas':
        return shape.schemas.map((one) => this.value(one, at)).join(' | ') || 'value';
      case 'types':
        return shape.types.map((type) => this.#ofType(type, shape.schema, at)).join(' | ');
    }
  }

  #ofType(type: string, schema: Schema, at: string): string {
    if (type === 'object') return this.object(schema, at);
    if (type === 'array') return this.array(schema, at);
    const beside = { isBesideJson: false, isBesideText: false };
    return leafRule(type, schema, {
      place: 'json',
      ...beside,
      at,
      unheld: this.#unheld,
      rules: this.#rules,
    });
  }

  /** An object whose names nobody has said. */
  #map({ additionalProperties: other }: Schema, at: string): string {
    if (other === false) return '"{" space "}"';
    if (!isSchema(other)) return 'object';
    const member = `string space ":" space ${this.value(other, `${at}.*`)}`;
    return `"{" space (${member} (${comma} ${member})*)? space "}"`;
  }
}
