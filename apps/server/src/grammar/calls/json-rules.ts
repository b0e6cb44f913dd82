import { literal } from '../literal.js';
import { listedIntegers } from './listed-integers.js';
import type { RuleList } from './rule-list.js';
import { elementsOf, isSchema, membersOf, type Schema, shapeOf } from './schema-shape.js';
import { sequence } from './sequence.js';

const comma = 'space "," space';

/** Rules for values as JSON text, as the values of tags may be where tags cannot show them. */
export class JsonRules {
  readonly #rules: RuleList;
  readonly #root: unknown;

  constructor(rules: RuleList, root: unknown) {
    this.#rules = rules;
    this.#root = root;
  }

  /** The rule of a value. */
  value(given: unknown): string {
    return this.#rules.of('json', given, () => this.#body(given));
  }

  /** An object, in braces. */
  object(schema: Schema): string {
    const members = membersOf(schema).filter(({ name }) => !name.includes(']<'));
    if (members.length === 0) return this.#map(schema);
    // What follows a member, from the last one on: with a comma, or as the first.
    let [more, first] = ['""', '""'];
    for (const { name, value, isRequired } of members.reverse()) {
      const member = `${literal(JSON.stringify(name))} space ":" space ${this.value(value)}`;
      const rest = more;
      more = this.#rules.add(
        isRequired ? `${comma} ${member} ${rest}` : `(${comma} ${member})? ${rest}`,
      );
      first = this.#rules.add(isRequired ? `${member} ${rest}` : `${member} ${rest} | ${first}`);
    }
    return `"{" space ${first} space "}"`;
  }

  /** An array, in brackets. */
  array(schema: Schema): string {
    const { first, other, ...counts } = elementsOf(schema);
    const tuple = first.map((one) => this.value(one));
    const rest = other === false ? undefined : this.value(other);
    return `"[" space ${sequence(this.#rules, { first: tuple, other: rest, ...counts, separator: comma })} space "]"`;
  }

  #body(given: unknown): string {
    const shape = shapeOf(given, this.#root);
    if (shape.kind === 'any') return 'value';
    if (shape.kind === 'choices') {
      const texts = shape.values.map((value) => JSON.stringify(value));
      return (
        texts
          .filter((text) => !text.includes(']<'))
          .map(literal)
          .join(' | ') || 'value'
      );
    }
    if (shape.kind === 'schemas') return shape.schemas.map((one) => this.value(one)).join(' | ');
    return shape.types.map((type) => this.#ofType(type, shape.schema)).join(' | ');
  }

  #ofType(type: string, schema: Schema): string {
    if (type === 'object') return this.object(schema);
    if (type === 'array') return this.array(schema);
    if (type === 'integer') return listedIntegers(schema) ?? type;
    const leaves = ['number', 'boolean', 'null', 'string'];
    return leaves.includes(type) ? type : 'value';
  }

  /** An object whose names nobody has said. */
  #map({ additionalProperties: other }: Schema): string {
    if (other === false) return '"{" space "}"';
    if (!isSchema(other)) return 'object';
    const member = `string space ":" space ${this.value(other)}`;
    return `"{" space (${member} (${comma} ${member})*)? space "}"`;
  }
}
