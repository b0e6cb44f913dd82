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
  #key: string | undefined;

  constructor(schema: ValueSchema) {
    this.#schema = schema;
  }

  /** One text for views in which everything is read alike. */
  keyBy(idOf: (schema: object) => number): string {
    this.#key ??= this.#schema.variants.map(idOf).join();
    return this.#key;
  }

  /** The view of a property. */
  property(name: string): ParserView {
    const view =
      this.#properties.get(name) ?? new ParserView(this.#schema.property(name) ?? nothing);
    this.#properties.set(name, view);
    return view;
  }

  /** The view of an element. */
  item(index: number): ParserView {
    const view = this.#items.get(index) ?? new ParserView(this.#schema.item(index));
    this.#items.set(index, view);
    return view;
  }

  /** A text that looks like JSON is taken for JSON. */
  get readsJson(): boolean {
    const { types } = this.#schema;
    return types.has('object') || types.has('array');
  }

  /** Any text may stand there, that of a number, too, which is read as the number. */
  get hasFreeText(): boolean {
    return this.#schema.variants.some(
      ({ type, enum: list, ...rest }) =>
        [type].flat().includes('string') && list === undefined && !('const' in rest),
    );
  }

  /** A tag `item` is a property, so arrays cannot have such tags for their elements. */
  get hasItemProperty(): boolean {
    return this.#schema.hasProperty('item');
  }

  /** No text between the tags would be read as something else than an empty one of the type. */
  mistakesEmpty(type: 'object' | 'array'): boolean {
    const { types, choices } = this.#schema;
    const isNull = types.has('null') && !types.has('string');
    return isNull || choices.includes('') || (type === 'array' && types.has('object'));
  }

  /** The elements from there on are read by other schemas than those before them. */
  hasTupleBeyond(count: number): boolean {
    return this.#schema.variants.some(({ prefixItems, items }) =>
      [prefixItems, items].some((list) => Array.isArray(list) && list.length > count),
    );
  }
}
