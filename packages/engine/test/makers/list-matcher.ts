import type { GrammarMatcher } from '../../src/index.js';

/** What a matcher of the tests allows: ids, everything, or a failure. */
export type Allowed = readonly number[] | 'any' | Error;

/** Allows a list of ids a token; behind the lists the text is complete. */
export class ListMatcher implements GrammarMatcher {
  readonly accepted: number[] = [];
  disposed = 0;
  readonly #words: number;
  readonly #lists: readonly Allowed[];

  constructor(vocab: number, lists: readonly Allowed[]) {
    this.#words = Math.ceil(vocab / 32);
    this.#lists = lists;
  }

  accept(id: number): void {
    this.accepted.push(id);
  }

  async mask(): Promise<Int32Array | undefined> {
    const allowed = this.#lists[this.accepted.length] ?? [];
    await new Promise((resolve) => setImmediate(resolve));
    if (allowed === 'any') return undefined;
    if (allowed instanceof Error) throw allowed;
    const mask = new Int32Array(this.#words);
    for (const id of allowed) mask[id >> 5] = (mask[id >> 5] ?? 0) | (1 << (id & 31));
    return mask;
  }

  dispose(): void {
    this.disposed += 1;
  }
}
