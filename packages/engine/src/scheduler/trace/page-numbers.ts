import { PageKeys } from '../../pages/page-keys.js';
import type { Sequence } from '../../sequence.js';
import type { TracePages } from './trace-line.js';

/** Stands in for the tokens of pages in a trace: equal numbers are equal tokens, and tell nothing else. */
export class PageNumbers {
  readonly #pageTokens: number;
  readonly #ofKey = new Map<string, number>();
  readonly #told = new WeakMap<Sequence, { readonly keys: PageKeys; pages: number }>();

  constructor(pageTokens: number) {
    this.#pageTokens = pageTokens;
  }

  /** Full pages among the first tokens of the sequence that were not told yet. */
  of(sequence: Sequence, tokens: number): TracePages {
    const told = this.#told.get(sequence) ?? { keys: this.#keysOf(sequence), pages: 0 };
    this.#told.set(sequence, told);
    const pages: [number, ...number[]] = [sequence.id];
    for (; (told.pages + 1) * this.#pageTokens <= tokens; told.pages += 1) {
      const key = told.keys.at(told.pages);
      const number = this.#ofKey.get(key) ?? this.#ofKey.size + 1;
      this.#ofKey.set(key, number);
      pages.push(number);
    }
    return pages;
  }

  #keysOf(sequence: Sequence): PageKeys {
    return new PageKeys({
      pageTokens: this.#pageTokens,
      salt: sequence.parameters.cacheSalt,
      tokenAt: (position) => sequence.tokenAt(position),
    });
  }
}
