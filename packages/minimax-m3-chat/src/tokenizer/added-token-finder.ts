import type { TextSpan } from '../text/text-span.js';
import type { AddedTokenJson } from './tokenizer-json.js';

/** An added token found in a text. */
export interface AddedTokenMatch extends TextSpan {
  readonly token: AddedTokenJson;
}

/** Finds the literals of added tokens in text: leftmost first, the longest of those. */
export class AddedTokenFinder {
  readonly #byText: ReadonlyMap<string, AddedTokenJson>;
  readonly #pattern: RegExp | null;

  constructor(tokens: readonly AddedTokenJson[]) {
    this.#byText = new Map(tokens.map((token) => [token.content, token]));
    const longestFirst = [...this.#byText.keys()].sort((a, b) => b.length - a.length);
    this.#pattern =
      longestFirst.length > 0 ? new RegExp(longestFirst.map(escapePattern).join('|'), 'g') : null;
  }

  /**
   * All matches that do not touch `forbidden` (ascending, disjoint spans of user text).
   * A rejected literal does not hide one that begins inside it.
   */
  find(text: string, forbidden: readonly TextSpan[] = []): AddedTokenMatch[] {
    const found: AddedTokenMatch[] = [];
    if (this.#pattern === null) return found;
    const pattern = new RegExp(this.#pattern);
    let next = 0;
    for (let hit = pattern.exec(text); hit !== null; hit = pattern.exec(text)) {
      const span = { start: hit.index, end: hit.index + hit[0].length };
      while ((forbidden[next]?.end ?? Number.POSITIVE_INFINITY) <= span.start) next++;
      const token = this.#byText.get(hit[0]);
      if (token === undefined || (forbidden[next]?.start ?? span.end) < span.end) {
        pattern.lastIndex = span.start + 1;
      } else {
        found.push({ ...span, token });
      }
    }
    return found;
  }
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
