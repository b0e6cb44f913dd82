import { PageKeys } from '../../pages/page-keys.js';
import type { Sequence } from '../../sequence.js';
import type { TracePages } from './trace-line.js';

/**
 * Stands in for the tokens of pages in a trace: equal numbers are equal tokens, and tell nothing
 * else.
 */
export class PageNumbers {
  readonly #pageTokens: number;
  readonly #ofKey = new Map<string, number>();
  readonly #told = new WeakMap<Sequence, { readonly keys: PageKeys; pages: number }>();

  constructor(pageTokens: number) {
    this.#pageTokens = pageTokens;
  }

  /** Full pages among the first tokens of the sequence that were not told yet. */
  of(sequence: Sequence, tokens: number): TracePages {
    const told = this.#toldOf(sequence);
    const pages: [number, ...number[]] = [sequence.id];
    for (; (told.pages + 1) * this.#pageTokens <= tokens; told.pages += 1) {
      pages.push(this.#numberOf(told.keys.at(told.pages)));
    }
    return pages;
  }

  /** The page in which a prompt ends; 0 = it is full. */
  ofTail(sequence: Sequence): number {
    const { length } = sequence.prompt;
    if (length % this.#pageTokens === 0) return 0;
    return this.#numberOf(this.#toldOf(sequence).keys.ofPrompt(length));
  }

  #numberOf(key: string): number {
    const number = this.#ofKey.get(key) ?? this.#ofKey.size + 1;
    this.#ofKey.set(key, number);
    return number;
  }

  #toldOf(sequence: Sequence) {
    const told = this.#told.get(sequence) ?? { keys: this.#keysOf(sequence), pages: 0 };
    this.#told.set(sequence, told);
    return told;
  }

  #keysOf(sequence: Sequence): PageKeys {
    return new PageKeys({
      pageTokens: this.#pageTokens,
      salt: sequence.parameters.cacheSalt,
      tokenAt: (position) => sequence.tokenAt(position),
    });
  }
}
