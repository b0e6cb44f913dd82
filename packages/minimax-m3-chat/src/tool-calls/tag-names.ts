import { readPlainTag } from './plain-tag.js';
import { unclearNames } from './unclear-names.js';

/** Longer names of parameters are no tags. */
const maxName = 512;
/** So many names, at most, are tags only because they are declared. */
const maxOddNames = 256;
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
 * declares that name, unless the tag would begin like another one. So are the first 256 such names.
 */
export class TagNames {
  readonly #declared: ReadonlySet<string>;
  /** Names that only their declaration makes readable. */
  readonly odd: readonly string[];
  readonly #odd: ReadonlySet<string>;
  /** By their texts. None begins with another one. */
  readonly #tags: readonly DeclaredTag[];
  readonly #longest: number;

  /** @param schemas JSON schemas of all functions' arguments */
  constructor(schemas: readonly unknown[]) {
    this.#declared = new Set([...ownTags, ...schemas.flatMap(namesIn)]);
    const readable = this.#readableNames();
    const unclear = unclearNames(readable, this.#declared);
    this.odd = readable.filter((name) => !unclear.has(name));
    this.#odd = new Set(this.odd);
    const tags = this.odd.flatMap((name): DeclaredTag[] => [
      { raw: `<${name}>`, name, isClosing: false },
      { raw: `</${name}>`, name, isClosing: true },
    ]);
    this.#tags = tags.sort((a, b) => (a.raw < b.raw ? -1 : 1));
    this.#longest = Math.max(0, ...tags.map(({ raw }) => raw.length));
  }

  /** True if a parameter of that name, which a tool declares, is read back from its tag. */
  isTag(name: string): boolean {
    return isPlainName(name) || this.#odd.has(name);
  }

  /** Reads the tag of an odd name at `start`; `incomplete`: more text may make it one. */
  read(text: string, start: number): DeclaredTag | 'incomplete' | 'none' {
    if (this.#longest === 0) return 'none';
    const window = text.slice(start, start + this.#longest);
    const next = this.#firstBehind(window);
    // Whatever stood between a tag and a text that begins with it would begin with it, too.
    const tag = this.#tags[next - 1];
    if (tag !== undefined && window.startsWith(tag.raw)) return tag;
    return this.#tags[next]?.raw.startsWith(window) ? 'incomplete' : 'none';
  }

  /** The index of the first tag, by their order, that is behind the text. */
  #firstBehind(text: string): number {
    let [low, high] = [0, this.#tags.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#tags[middle] as DeclaredTag).raw <= text) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The first names that are no plain ones and have tags that mean nothing else. */
  #readableNames(): string[] {
    const names: string[] = [];
    for (const name of this.#declared) {
      if (names.length === maxOddNames) break;
      if (!isPlainName(name) && this.#isReadable(name)) names.push(name);
    }
    return names;
  }

  #isReadable(name: string): boolean {
    if (name.length > maxName || name.includes(']<') || hasHalfPair(name)) return false;
    if (/^\s*invoke\s+name\s*=/.test(name)) return false;
    return !(name.startsWith('/') && this.#hasDeclared(name.slice(1)));
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
    // One by one: there may be more than a call has arguments.
    for (const name of keysOf(properties)) names.push(name);
    for (const name of Array.isArray(required) ? required : [])
      if (typeof name === 'string') names.push(name);
    for (const inner of Object.values(value)) rest.push(inner);
  }
  return names;
}

function keysOf(properties: unknown): string[] {
  const isMapping = typeof properties === 'object' && properties !== null;
  return isMapping && !Array.isArray(properties) ? Object.keys(properties) : [];
}
