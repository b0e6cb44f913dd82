import { LedgerError } from '../errors/index.js';

/** A page whose tokens are known. */
interface Entry {
  readonly page: number;
  readonly key: string;
  readonly parent: string;
}

/** Which page holds which tokens, and which pages continue it. */
export class PrefixIndex {
  readonly #ofKey = new Map<string, Entry>();
  readonly #ofPage = new Map<number, Entry>();
  readonly #children = new Map<string, Set<number>>();

  get size(): number {
    return this.#ofKey.size;
  }

  /** The page of this name. */
  find(key: string): number | undefined {
    return this.#ofKey.get(key)?.page;
  }

  has(page: number): boolean {
    return this.#ofPage.has(page);
  }

  /** Enters a page; false, and no change, if another page has the name already. */
  add(page: number, key: string, parent: string): boolean {
    if (this.#ofKey.has(key)) return false;
    if (this.#ofPage.has(page)) throw new LedgerError(`page ${page} is in the index twice`);
    const entry = { page, key, parent };
    this.#ofKey.set(key, entry);
    this.#ofPage.set(page, entry);
    const siblings = this.#children.get(parent);
    if (siblings) siblings.add(page);
    else this.#children.set(parent, new Set([page]));
    return true;
  }

  remove(page: number): void {
    const entry = this.#ofPage.get(page);
    if (!entry) return;
    this.#ofPage.delete(page);
    this.#ofKey.delete(entry.key);
    const siblings = this.#children.get(entry.parent);
    siblings?.delete(page);
    if (siblings?.size === 0) this.#children.delete(entry.parent);
  }

  /**
   * The page itself, or the end of a chain that continues it through pages for which the test
   * holds.
   */
  tailOf(page: number, test: (page: number) => boolean): number {
    let tail = page;
    for (;;) {
      const entry = this.#ofPage.get(tail);
      const next = [...((entry && this.#children.get(entry.key)) ?? [])].find(test);
      if (next === undefined) return tail;
      tail = next;
    }
  }

  clear(): void {
    this.#ofKey.clear();
    this.#ofPage.clear();
    this.#children.clear();
  }
}
