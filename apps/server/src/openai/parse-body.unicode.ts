/** Where a body has half of a surrogate pair, which JSON can write and no text of tokens has. */
export interface HalfPair {
  /** Keys from the body's top. */
  readonly path: readonly (string | number)[];
  /** Of the half, in UTF-16 units of its text. */
  readonly position: number;
  /** The text is the name of a field. */
  readonly isName: boolean;
}

/**
 * The first half pair of a body, names included: in a prompt U+FFFD would take its place, and a
 * stop text or a grammar that has one could never match.
 *
 * @param body of bounded depth
 */
export function findHalfPair(body: object): HalfPair | undefined {
  const path: (string | number)[] = [];
  const inText = (text: string, isName = false): HalfPair | undefined => {
    const position = text.search(/\p{Cs}/u);
    return position < 0 ? undefined : { path: [...path], position, isName };
  };
  const inValue = (value: unknown): HalfPair | undefined => {
    if (typeof value === 'string') return inText(value);
    if (typeof value !== 'object' || value === null) return undefined;
    const names = Array.isArray(value) ? undefined : Object.keys(value);
    // Not by entries: those of an object of a million names take a second.
    for (const key of names ?? (value as readonly unknown[]).keys()) {
      path.push(key);
      const one = (value as Record<string | number, unknown>)[key];
      const found = (names && inText(key as string, true)) ?? inValue(one);
      if (found) return found;
      path.pop();
    }
    return undefined;
  };
  return inValue(body);
}
