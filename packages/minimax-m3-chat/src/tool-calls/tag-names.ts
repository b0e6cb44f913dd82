import { readPlainTag } from './plain-tag.js';

/** Longer names of parameters are no tags. */
const maxName = 512;
/** Tags that mean something else wherever a parameter may stand. */
const ownTags = ['item', 'invoke', 'tool_call'];

/** A tag that was read by its declared name. */
export interface DeclaredTag {
  readonly raw: string;
  readonly name: string;
  readonly isClosing: boolean;
}

/**
 * Which names of parameters are tags. A tag is its parameter's name, as it is: what no tag has
 * otherwise (`<`, `>`, line ends, outer spaces, many characters) is part of one where a tool
 * declares that name, unless the tag would begin like another one.
 */
export class TagNames {
  readonly #declared: ReadonlySet<string>;
  /** Names that only their declaration makes readable. */
  readonly odd: readonly string[];
  readonly #odd: ReadonlySet<string>;
  readonly #tags: ReadonlyMap<string, DeclaredTag>;
  readonly #sorted: readonly string[];
  /** Of the tags, the longest first. */
  readonly #lengths: readonly number[];

  /** @param schemas JSON schemas of all functions' arguments */
  constructor(schemas: readonly unknown[]) {
    this.#declared = new Set([...ownTags, ...schemas.flatMap(namesIn)]);
    this.odd = [...this.#declared].filter((name) => !isPlainName(name) && this.#isDistinct(name));
    this.#odd = new Set(this.odd);
    const tags = this.odd.flatMap((name): DeclaredTag[] => [
      { raw: `<${name}>`, name, isClosing: false },
      { raw: `</${name}>`, name, isClosing: true },
    ]);
    this.#tags = new Map(tags.map((tag) => [tag.raw, tag]));
    this.#sorted = [...this.#tags.keys()].sort();
    this.#lengths = [...new Set(this.#sorted.map(({ length }) => length))].sort((a, b) => b - a);
  }

  /** True if a parameter of that name, which a tool declares, is read back from its tag. */
  isTag(name: string): boolean {
    return isPlainName(name) || this.#odd.has(name);
  }

  /** Reads the tag of an odd name at `start`; `incomplete`: more text may make it one. */
  read(text: string, start: number): DeclaredTag | 'incomplete' | 'none' {
    const [longest] = this.#lengths;
    if (longest === undefined) return 'none';
    const window = text.slice(start, start + longest);
    for (const length of this.#lengths) {
      const tag = length <= window.length ? this.#tags.get(window.slice(0, length)) : undefined;
      if (tag !== undefined) return tag;
    }
    return this.#firstFrom(window)?.startsWith(window) ? 'incomplete' : 'none';
  }

  /** The first tag, by their order, that is not before the text. */
  #firstFrom(text: string): string | undefined {
    let [low, high] = [0, this.#sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#sorted[middle] ?? '') < text) low = middle + 1;
      else high = middle;
    }
    return this.#sorted[low];
  }

  /** False for a name one of whose tags could be another one, and text behind it. */
  #isDistinct(name: string): boolean {
    const isReadable = name.length <= maxName && !name.includes(']<') && !hasHalfPair(name);
    if (!isReadable || /^\s*invoke\s+name\s*=/.test(name)) return false;
    const isClosing = name.startsWith('/') && this.#hasDeclared(name.slice(1));
    return !isClosing && !this.#beginsLikeTag(`${name}>`) && !this.#beginsLikeTag(`/${name}>`);
  }

  /** True if what a tag has behind its `<` is another tag up to one of its `>`. */
  #beginsLikeTag(inner: string): boolean {
    const last = inner.length - 1;
    for (let at = inner.indexOf('>'); at >= 0 && at < last; at = inner.indexOf('>', at + 1)) {
      const name = inner.slice(0, at);
      const isClosing = name.startsWith('/') && this.#hasDeclared(name.slice(1));
      if (isClosing || this.#hasDeclared(name)) return true;
    }
    return false;
  }

  #hasDeclared(name: string): boolean {
    return this.#declared.has(name) || this.#declared.has(name.trim());
  }
}

/** True if a tag of that name is read without anybody declaring it. */
function isPlainName(name: string): boolean {
  if (hasHalfPair(name)) return false;
  return [`<${name}>`, `</${name}>`].every((raw) => {
    const tag = readPlainTag(raw, 0);
    const isWhole = typeof tag === 'object' && tag.end === raw.length;
    return isWhole && tag.tag.name === name && tag.tag.functionName === undefined;
  });
}

/** True for half of a surrogate pair alone, which no text of tokens has. */
function hasHalfPair(name: string): boolean {
  return /\p{Cs}/u.test(name);
}

/** All names of properties that a schema declares or requires. */
function namesIn(schema: unknown): string[] {
  const names: string[] = [];
  const rest: unknown[] = [schema];
  while (rest.length > 0) {
    const value = rest.pop();
    if (typeof value !== 'object' || value === null) continue;
    const { properties, required } = value as Readonly<Record<string, unknown>>;
    if (typeof properties === 'object' && properties !== null) names.push(...keysOf(properties));
    if (Array.isArray(required)) names.push(...required.filter((one) => typeof one === 'string'));
    rest.push(...Object.values(value));
  }
  return names;
}

function keysOf(properties: object): string[] {
  return Array.isArray(properties) ? [] : Object.keys(properties);
}
