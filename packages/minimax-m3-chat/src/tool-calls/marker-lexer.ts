import { controlTexts } from '../text/control-texts.js';
import { heldLength } from '../text/held-text.js';

const marker = controlTexts.namespace;
/** White space between the marker and its tag, at most; more is no tag. */
const maxSpacing = 64;
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

/**
 * A piece of the output: text between tags; a tag; a marker without a tag (`stray`); at the end
 * only, a marker whose tag was cut off (`partial`, without its marker).
 */
export type Lexeme =
  | { readonly kind: 'text' | 'partial'; readonly text: string }
  | { readonly kind: 'stray' }
  | MarkedTag;

/**
 * Cuts a stream of text into text and marked tags. What may still become a marker or a tag is held
 * back; any chunking gives the same lexemes (texts joined). Linear time: what is held is bounded.
 */
export class MarkerLexer {
  #held = '';

  /** The lexemes that are certain after one more piece of text. */
  push(text: string): Lexeme[] {
    return this.#scan(this.#held + text, false);
  }

  /** What was held back: text, or a tag that was cut off. */
  finish(): Lexeme[] {
    return this.#scan(this.#held, true);
  }

  #scan(text: string, isEnd: boolean): Lexeme[] {
    const lexemes: Lexeme[] = [];
    let at = 0;
    for (;;) {
      const found = text.indexOf(marker, at);
      if (found < 0) break;
      pushText(lexemes, text.slice(at, found));
      const tag = readTag(text, found + marker.length);
      if (tag === 'incomplete') {
        this.#held = isEnd ? '' : text.slice(found);
        if (isEnd) lexemes.push({ kind: 'partial', text: text.slice(found + marker.length) });
        return lexemes;
      }
      if (typeof tag === 'object') {
        lexemes.push(tag.tag);
        at = tag.end;
      } else {
        lexemes.push({ kind: 'stray' });
        at = found + marker.length;
      }
    }
    const held = isEnd ? 0 : Math.min(heldLength(text, [marker]), text.length - at);
    pushText(lexemes, text.slice(at, text.length - held));
    this.#held = text.slice(text.length - held);
    return lexemes;
  }
}

function pushText(lexemes: Lexeme[], text: string): void {
  if (text !== '') lexemes.push({ kind: 'text', text });
}

type TagAt = { readonly tag: MarkedTag; readonly end: number } | 'incomplete' | 'none';

/** Reads a tag at `from`, the position behind a marker. */
function readTag(text: string, from: number): TagAt {
  let start = from;
  while (start < text.length && isSpace(text.charCodeAt(start))) {
    if (++start - from > maxSpacing) return 'none';
  }
  if (start >= text.length) return 'incomplete';
  if (text.charAt(start) !== '<') return 'none';
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

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}
