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
  /** Tokens of the page that is named, and their bytes. */
  readonly #ids: Int32Array;
  readonly #bytes: Uint8Array;
  #prompt: string | undefined;

  constructor(options: PageKeysOptions) {
    this.#options = options;
    this.#ids = new Int32Array(options.pageTokens);
    this.#bytes = new Uint8Array(this.#ids.buffer);
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
    for (let at = 0; at < length; at += 1) this.#ids[at] = tokenAt(first + at);
    const parent = this.#keys[index - 1] ?? '\0'.repeat(32);
    return createHash('sha256')
      .update(parent, 'latin1')
      .update(this.#salt)
      .update(length < pageTokens ? this.#bytes.subarray(0, 4 * length) : this.#bytes)
      .digest('binary');
  }
}
