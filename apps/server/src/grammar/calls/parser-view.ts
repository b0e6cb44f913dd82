import { ValueSchema } from '@altstream/minimax-m3-chat';

/** A value of which no schema says anything. */
const nothing = new ValueSchema(undefined);

/**
 * What the output parser will make of a value: it reads a value by all schemas that the place may
 * have at once, so what a rule writes must be read back by all of them as what it is.
 */
export class ParserView {
  readonly #schema: ValueSchema;
  /** Schemas of many alternatives are put together once, and not for each of them. */
  readonly #properties = new Map<string, ParserView>();
  readonly #items = new Map<number, ParserView>();
  readonly #onLook: (steps: number) => void;
  /** A text that looks like JSON is taken for JSON. */
  readonly readsJson: boolean;
  /** Any text may stand there, that of a number, too, which is read as the number. */
  readonly hasFreeText: boolean;
  /** A tag `item` is a property, so arrays cannot have such tags for their elements. */
  readonly hasItemProperty: boolean;
  /** Places of the longest list of schemas that elements are read by. */
  readonly #mostTuple: number;
  readonly #hasEmptyChoice: boolean;
  #key: string | undefined;

  /** @param onLook told how many schemas are looked at, each of all that the place may have */
  constructor(schema: ValueSchema, onLook: (steps: number) => void) {
    this.#schema = schema;
    this.#onLook = onLook;
    const { types, choices, variants } = schema;
    onLook(variants.length + choices.length);
    // Once for a place: each of its alternatives asks.
    this.readsJson = types.has('object') || types.has('array');
    this.hasFreeText = variants.some(
      ({ type, enum: list, ...rest }) =>
        [type].flat().includes('string') && list === undefined && !('const' in rest),
    );
    this.hasItemProperty = schema.hasProperty('item');
    this.#hasEmptyChoice = choices.includes('');
    const tuples = variants.flatMap(({ prefixItems, items }) => [prefixItems, items]);
    const sizes = tuples.map((list) => (Array.isArray(list) ? list.length : 0));
    this.#mostTuple = sizes.reduce((most, size) => Math.max(most, size), 0);
  }

  /** How many schemas the place may have. */
  get size(): number {
    return this.#schema.variants.length;
  }

  /** One text for views in which everything is read alike. */
  keyBy(idOf: (schema: object) => number): string {
    this.#key ??= this.#schema.variants.map(idOf).join();
    return this.#key;
  }

  /** The view of a property. */
  property(name: string): ParserView {
    const known = this.#properties.get(name);
    if (known) return known;
    this.#onLook(this.size);
    const view = new ParserView(this.#schema.property(name) ?? nothing, this.#onLook);
    this.#properties.set(name, view);
    return view;
  }

  /** The view of an element. */
  item(index: number): ParserView {
    const known = this.#items.get(index);
    if (known) return known;
    this.#onLook(this.size);
    const view = new ParserView(this.#schema.item(index), this.#onLook);
    this.#items.set(index, view);
    return view;
  }

  /** No text between the tags would be read as something else than an empty one of the type. */
  mistakesEmpty(type: 'object' | 'array'): boolean {
    const { types } = this.#schema;
    const isNull = types.has('null') && !types.has('string');
    return isNull || this.#hasEmptyChoice || (type === 'array' && types.has('object'));
  }

  /** The elements from there on are read by other schemas than those before them. */
  hasTupleBeyond(count: number): boolean {
    return this.#mostTuple > count;
  }
}
