/** What a tag of a name has behind its `<` or `</`, without the `>` at its end. */
interface Beginning {
  readonly text: string;
  readonly name: string;
  /** White space before the text was taken off. */
  readonly isCut: boolean;
}

/**
 * Those of a few names one of whose tags begins with the whole tag of a declared name, so that a
 * reader cannot tell both apart. The declared ones are looked up among the few, not the other way
 * round: time grows with the length of all of them, however many `>` a name has.
 */
export function unclearNames(
  names: readonly string[],
  declared: Iterable<string>,
): ReadonlySet<string> {
  const beginnings = names.filter((name) => name.includes('>')).flatMap(beginningsOf);
  beginnings.sort((a, b) => (a.text < b.text ? -1 : 1));
  const unclear = new Set<string>();
  if (beginnings.length === 0) return unclear;
  for (const other of declared) {
    for (let at = firstFrom(beginnings, other); at < beginnings.length; at++) {
      const beginning = beginnings[at] as Beginning;
      if (!beginning.text.startsWith(other)) break;
      if (isTagAhead(other, beginning)) unclear.add(beginning.name);
    }
  }
  return unclear;
}

/** A tag that opens may look like one that closes, and the other way round. */
function beginningsOf(name: string): Beginning[] {
  const texts = [name, `/${name}`, ...(name.startsWith('/') ? [name.slice(1)] : [])];
  return texts.flatMap((text) => {
    const cut = text.trimStart();
    const whole = { text, name, isCut: false };
    return cut === text ? [whole] : [whole, { text: cut, name, isCut: true }];
  });
}

/** True if the beginning goes on with the end of the other name's tag; tags may have spaces. */
function isTagAhead(other: string, { text, isCut }: Beginning): boolean {
  if (!isCut && text.charAt(other.length) === '>') return true;
  if (!/[\s>]/.test(text.charAt(other.length)) || other !== other.trim()) return false;
  return text.slice(other.length).trimStart().startsWith('>');
}

/** The index of the first beginning, by their order, that is not before the text. */
function firstFrom(beginnings: readonly Beginning[], text: string): number {
  let [low, high] = [0, beginnings.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((beginnings[middle] as Beginning).text < text) low = middle + 1;
    else high = middle;
  }
  return low;
}
