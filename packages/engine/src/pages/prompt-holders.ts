import type { Sequence } from '../sequence.js';

/** Which running sequences hold a whole prompt that ends in a page which is not full. */
export class PromptHolders {
  readonly #ofKey = new Map<string, Set<Sequence>>();

  /** One of those that hold the prompt of this name. */
  find(key: string): Sequence | undefined {
    const [first] = this.#ofKey.get(key) ?? [];
    return first;
  }

  add(key: string, sequence: Sequence): void {
    const holders = this.#ofKey.get(key);
    if (holders) holders.add(sequence);
    else this.#ofKey.set(key, new Set([sequence]));
  }

  remove(key: string, sequence: Sequence): void {
    const holders = this.#ofKey.get(key);
    holders?.delete(sequence);
    if (holders?.size === 0) this.#ofKey.delete(key);
  }

  clear(): void {
    this.#ofKey.clear();
  }
}
