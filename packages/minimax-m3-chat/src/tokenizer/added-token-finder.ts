import { isUnmarkable } from '../template/template-marks.js';
import type { TextSpan } from '../text/text-span.js';
import type { AddedTokenJson } from './tokenizer-json.js';

/** An added token found in a text. */
export interface AddedTokenMatch extends TextSpan {
  readonly token: AddedTokenJson;
}

/** Finds the literals of added tokens in text: leftmost first, the longest of those. */
export class AddedTokenFinder {
  readonly #byText: ReadonlyMap<string, AddedTokenJson>;
  readonly #any: RegExp | null;
  /** Of literals that a template cannot mark as its own, such as spaces. */
  readonly #unmarkable: RegExp | null;

  constructor(tokens: readonly AddedTokenJson[]) {
    this.#byText = new Map(tokens.map((token) => [token.content, token]));
    const texts = [...this.#byText.keys()];
    this.#any = patternOf(texts);
    this.#unmarkable = patternOf(texts.filter(isUnmarkable));
  }

  /** All matches. */
  find(text: string): AddedTokenMatch[] {
    return this.#find(text, this.#any, 0);
  }

  /** All matches within the spans (ascending, disjoint); those of white space anywhere. */
  findIn(text: string, spans: readonly TextSpan[]): AddedTokenMatch[] {
    const found: AddedTokenMatch[] = [];
    let at = 0;
    for (const { start, end } of spans) {
      found.push(...this.#find(text.slice(at, start), this.#unmarkable, at));
      found.push(...this.#find(text.slice(start, end), this.#any, start));
      at = end;
    }
    found.push(...this.#find(text.slice(at), this.#unmarkable, at));
    return found;
  }

  #find(text: string, pattern: RegExp | null, offset: number): AddedTokenMatch[] {
    if (pattern === null) return [];
    return Array.from(text.matchAll(pattern), ({ 0: literal, index }) => {
      const start = offset + index;
      const token = this.#byText.get(literal) as AddedTokenJson;
      return { start, end: start + literal.length, token };
    });
  }
}

/** The longest first, so that it wins. */
function patternOf(texts: readonly string[]): RegExp | null {
  const longestFirst = texts.filter((text) => text !== '').sort((a, b) => b.length - a.length);
  return longestFirst.length > 0
    ? new RegExp(longestFirst.map(escapePattern).join('|'), 'g')
    : null;
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
