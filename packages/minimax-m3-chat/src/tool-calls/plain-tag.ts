/** Characters of an `<invoke …>` tag and of any other tag, at most; more is no tag. */
const maxInvokeTag = 320;
const maxTag = 66;

/** A tag that stood behind a namespace marker. */
export interface MarkedTag {
  readonly kind: 'tag';
  /** The tag as text, without marker: `<city>`. */
  readonly raw: string;
  readonly isClosing: boolean;
  /** Tag name; for `<invoke name="f">` it is `invoke`. */
  readonly name: string;
  /** The function of an `<invoke name="f">`. */
  readonly functionName?: string;
}

/** A tag and where it ends. */
export interface TagAt {
  readonly tag: MarkedTag;
  readonly end: number;
}

/** Reads a tag that nobody declared, at `start`, where its `<` is. */
export function readPlainTag(text: string, start: number): TagAt | 'incomplete' | 'none' {
  const window = text.slice(start, start + maxInvokeTag);
  const bad = /[\n\r<]/.exec(window.slice(1));
  const end = window.indexOf('>');
  const size = end < 0 ? window.length : end + 1;
  if (bad !== null && bad.index + 1 < size) return 'none';
  const limit = /^<invoke\s/.test(window) ? maxInvokeTag : maxTag;
  if (end < 0) return size >= limit ? 'none' : 'incomplete';
  if (size > limit) return 'none';
  const tag = parseTag(window.slice(0, size));
  return tag === null ? 'none' : { tag, end: start + size };
}

function parseTag(raw: string): MarkedTag | null {
  const isClosing = raw.charAt(1) === '/';
  const inner = raw.slice(isClosing ? 2 : 1, -1).trim();
  if (inner === '') return null;
  const invoke = /^invoke\s+name\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+))$/.exec(inner);
  const functionName = (invoke?.[1] ?? invoke?.[2] ?? invoke?.[3])?.trim();
  if (isClosing || functionName === undefined || functionName === '') {
    return { kind: 'tag', raw, isClosing, name: inner };
  }
  return { kind: 'tag', raw, isClosing, name: 'invoke', functionName };
}
