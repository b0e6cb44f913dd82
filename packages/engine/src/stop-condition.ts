import type { SettledParameters } from './generation-parameters.js';

/** Bytes of a token id, from the tokenizer; special tokens may have none. */
export type TokenBytes = (id: number) => Uint8Array;

/** Why a token ends its sequence, or undefined if it does not. */
export type Stop = { readonly reason: 'stop' | 'length'; readonly stop?: number | string };

/**
 * Decides after each token whether a sequence is over. Stop strings are searched in the bytes of
 * the generated tokens, so one that spans several tokens, or part of one, is found at the token
 * that completes it.
 */
export class StopCondition {
  readonly #parameters: SettledParameters;
  readonly #maxTokens: number;
  readonly #needles: readonly { readonly text: string; readonly bytes: Buffer }[];
  readonly #tokenBytes: TokenBytes | undefined;
  readonly #tailBytes: number;
  #tail: Buffer = Buffer.alloc(0);

  constructor(parameters: SettledParameters, maxTokens: number, tokenBytes?: TokenBytes) {
    this.#parameters = parameters;
    this.#maxTokens = maxTokens;
    this.#tokenBytes = tokenBytes;
    this.#needles = parameters.stopStrings.map((text) => ({ text, bytes: Buffer.from(text) }));
    this.#tailBytes = Math.max(0, ...this.#needles.map(({ bytes }) => bytes.length - 1));
  }

  /**
   * @param id the token just sampled
   * @param generated tokens generated so far, this one included
   */
  after(id: number, generated: number): Stop | undefined {
    const text = this.#matchedString(id);
    if (generated > this.#parameters.minTokens) {
      if (this.#parameters.stopTokenIds.has(id)) return { reason: 'stop', stop: id };
      if (text !== undefined) return { reason: 'stop', stop: text };
    }
    return generated >= this.#maxTokens ? { reason: 'length' } : undefined;
  }

  /** The earliest-ending stop string that this token completes. */
  #matchedString(id: number): string | undefined {
    if (this.#needles.length === 0 || !this.#tokenBytes) return undefined;
    const known = this.#tail.length;
    const window = Buffer.concat([this.#tail, this.#tokenBytes(id)]);
    this.#tail = window.subarray(Math.max(0, window.length - this.#tailBytes));
    let found: { text: string; end: number } | undefined;
    for (const { text, bytes } of this.#needles) {
      // One that ended before this token was found, or ignored, then.
      const start = window.indexOf(bytes, Math.max(0, known - bytes.length + 1));
      const end = start + bytes.length;
      if (start >= 0 && (found === undefined || end < found.end)) found = { text, end };
    }
    return found?.text;
  }
}
