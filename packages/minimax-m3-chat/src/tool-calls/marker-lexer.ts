import { controlTexts } from '../text/control-texts.js';
import { heldLength } from '../text/held-text.js';
import { type MarkedTag, readPlainTag, type TagAt } from './plain-tag.js';
import { TagNames } from './tag-names.js';

const marker = controlTexts.namespace;
/** White space between the marker and its tag, at most; more is no tag. */
const maxSpacing = 64;

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
  readonly #namesOf: () => TagNames;
  #names: TagNames | undefined;
  #held = '';

  /** @param namesOf called when the first tag comes: most answers have none */
  constructor(namesOf: () => TagNames = () => new TagNames([])) {
    this.#namesOf = namesOf;
  }

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
      const tag = this.#readTag(text, found + marker.length, isEnd);
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

  /** Reads a tag at `from`, the position behind a marker. */
  #readTag(text: string, from: number, isEnd: boolean): TagAt | 'incomplete' | 'none' {
    let start = from;
    while (start < text.length && isSpace(text.charCodeAt(start))) {
      if (++start - from > maxSpacing) return 'none';
    }
    if (start >= text.length) return 'incomplete';
    if (text.charAt(start) !== '<') return 'none';
    this.#names ??= this.#namesOf();
    const declared = this.#names.read(text, start);
    if (typeof declared === 'object') {
      return { tag: { kind: 'tag', ...declared }, end: start + declared.raw.length };
    }
    return declared === 'incomplete' && !isEnd ? declared : readPlainTag(text, start);
  }
}

function pushText(lexemes: Lexeme[], text: string): void {
  if (text !== '') lexemes.push({ kind: 'text', text });
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}
