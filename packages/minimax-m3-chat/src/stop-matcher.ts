import { ParserError } from './errors/index.js';
import { heldLength } from './text/held-text.js';

/** What a {@link StopMatcher} may let through after one more piece of text. */
export interface StopMatch {
  /** Text that is certain to belong to the output. */
  readonly text: string;
  /** The stop string that ended the output; absent while it goes on. */
  readonly matched?: string;
}

/**
 * Finds stop strings in streamed text, across borders of pieces. The stop that is complete first
 * wins; of those complete at the same character, the longest. No prefix of a matched stop is ever
 * given out, and text that only looked like one is given out exactly once.
 */
export class StopMatcher {
  readonly #stops: readonly string[];
  readonly #include: boolean;
  #held = '';
  #done = false;

  /**
   * @param stops  the stop strings, each at least one character
   * @param options.include  keep the matched string in the output (`include_stop_str_in_output`)
   */
  constructor(stops: readonly string[], options: { readonly include?: boolean } = {}) {
    if (stops.some((stop) => typeof stop !== 'string' || stop.length === 0)) {
      throw new ParserError(
        'CHAT_PARSER_OPTION',
        'StopMatcher: `stops` holds an empty string, expected at least one character each',
      );
    }
    // Longest first: of stops that end at the same character the first one found stays.
    this.#stops = [...new Set(stops)].sort((a, b) => b.length - a.length);
    this.#include = options.include === true;
  }

  /** True once a stop string matched: nothing comes after it. */
  get isDone(): boolean {
    return this.#done;
  }

  /** Takes the next piece of text. After a match every piece is dropped. */
  push(text: string): StopMatch {
    if (this.#done || text === '') return { text: '' };
    const all = this.#held + text;
    const match = this.#firstComplete(all);
    if (match !== undefined) {
      this.#held = '';
      this.#done = true;
      return {
        text: all.slice(0, match.end - (this.#include ? 0 : match.stop.length)),
        matched: match.stop,
      };
    }
    const cut = all.length - heldLength(all, this.#stops);
    this.#held = all.slice(cut);
    return { text: all.slice(0, cut) };
  }

  /** The text that was held back as a possible stop; the output ended before it became one. */
  finish(): string {
    const rest = this.#held;
    this.#held = '';
    this.#done = true;
    return rest;
  }

  #firstComplete(text: string): { stop: string; end: number } | undefined {
    let first: { stop: string; end: number } | undefined;
    for (const stop of this.#stops) {
      const at = text.indexOf(stop);
      if (at >= 0 && at + stop.length < (first?.end ?? Number.POSITIVE_INFINITY)) {
        first = { stop, end: at + stop.length };
      }
    }
    return first;
  }
}
