import { createHash } from 'node:crypto';

/** Where the tokens of a sequence come from, and what keeps its pages apart from others'. */
export interface PageKeysOptions {
  readonly pageTokens: number;
  /** Sequences with different salts never share a page; undefined is a salt of its own. */
  readonly salt: string | undefined;
  readonly tokenAt: (position: number) => number;
}

/**
 * Names of the full pages of a sequence: SHA-256 of the page before, the salt, and the page's token
 * ids. Equal names mean equal tokens from the start on, so equal keys and values. A cryptographic
 * hash, since with a weak one a request could be made that reads another's pages. Computed once, as
 * far as asked for.
 */
export class PageKeys {
  readonly #options: PageKeysOptions;
  readonly #salt: Buffer;
  readonly #keys: string[] = [];
  #prompt: string | undefined;

  constructor(options: PageKeysOptions) {
    this.#options = options;
    // The first byte tells no salt from an empty one; hashed, every salt has the same length.
    const marked = options.salt === undefined ? '-' : `+${options.salt}`;
    this.#salt = createHash('sha256').update(marked).digest();
  }

  /** Names that were computed: those of the first so many pages. */
  get known(): number {
    return this.#keys.length;
  }

  /** @param index of a page whose tokens are all known, and those before it */
  at(index: number): string {
    for (let next = this.#keys.length; next <= index; next += 1) this.#keys.push(this.#hash(next));
    return this.#keys[index] ?? '';
  }

  /** The name of the page before; empty for the first. */
  parentOf(index: number): string {
    return index === 0 ? '' : this.at(index - 1);
  }

  /**
   * The name of a whole prompt: that of its last page, which need not be full. Always the same
   * prompt.
   */
  ofPrompt(tokens: number): string {
    const { pageTokens } = this.#options;
    const full = Math.floor(tokens / pageTokens);
    if (full > 0) this.at(full - 1);
    const isFull = full * pageTokens === tokens;
    this.#prompt ??= isFull ? this.at(full - 1) : this.#hash(full, tokens - full * pageTokens);
    return this.#prompt;
  }

  #hash(index: number, length = this.#options.pageTokens): string {
    const { pageTokens, tokenAt } = this.#options;
    const first = index * pageTokens;
    const ids = Int32Array.from({ length }, (_, offset) => tokenAt(first + offset));
    const parent = this.#keys[index - 1] ?? '\0'.repeat(32);
    return createHash('sha256')
      .update(parent, 'latin1')
      .update(this.#salt)
      .update(new Uint8Array(ids.buffer))
      .digest('binary');
  }
}
