import { isConstraint, typeOfKeyword } from '../schema-keywords.js';
import type { Schema } from './schema-shape.js';

/** A keyword that calls are not held to, and where the first of them stands. */
export interface UnheldKeyword {
  readonly keyword: string;
  /** Names of parameters, such as `orders[].price`; empty = the arguments themselves. */
  readonly at: string;
}

/** What the shape of a schema is made of; each is dealt with where that is. */
const shaping: ReadonlySet<string> = new Set([
  ...['type', 'enum', 'const', '$ref', 'anyOf', 'oneOf', 'allOf', 'then', 'else'],
]);

/** Keywords that the rules of a function cannot hold a call to, as they are found. */
export class UnheldKeywords {
  readonly #places = new Map<string, string>();

  get all(): readonly UnheldKeyword[] {
    return Array.from(this.#places, ([keyword, at]) => ({ keyword, at }));
  }

  add(keyword: string, at: string): void {
    if (!this.#places.has(keyword)) this.#places.set(keyword, at);
  }

  /**
   * Adds what a schema says of a value of a type beyond what is held.
   *
   * @param type undefined = a value of any type
   */
  addBeyond(
    held: readonly string[],
    schema: Schema,
    { type, at }: { readonly type: string | undefined; readonly at: string },
  ): void {
    for (const [keyword, value] of Object.entries(schema)) {
      if (!isConstraint(keyword) || shaping.has(keyword) || held.includes(keyword)) continue;
      const owner = typeOfKeyword(keyword);
      const own = type === 'integer' ? 'number' : type;
      if (owner !== undefined && own !== undefined && owner !== own) continue;
      if (!isEmpty(keyword, value)) this.add(keyword, at);
    }
  }
}

/** True for what forbids nothing. */
function isEmpty(keyword: string, value: unknown): boolean {
  if (value === undefined || (keyword === 'uniqueItems' && value === false)) return true;
  if (keyword.startsWith('min') && value === 0) return keyword !== 'minimum';
  if (['unevaluatedProperties', 'unevaluatedItems', 'propertyNames'].includes(keyword)) {
    return value === true;
  }
  const isGroup = ['patternProperties', 'dependentRequired', 'dependentSchemas'].includes(keyword);
  return isGroup && typeof value === 'object' && Object.keys(value ?? {}).length === 0;
}
