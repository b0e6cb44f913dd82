import { TokenizerError } from '../errors/index.js';
import { entryToBytes } from './byte-alphabet.js';
import type { TokenizerJson } from './tokenizer-json.js';

/** Plain data of a {@link ByteTable}: crosses threads by structured clone or transfer. */
export interface ByteTableData {
  /** All tokens' bytes, one after the other. */
  readonly bytes: Uint8Array;
  /** [ids + 1] where token i's bytes begin; the last entry is the total. */
  readonly offsets: Uint32Array;
  /** [ids] 1 = special token (added and marked special). */
  readonly special: Uint8Array;
}

/** Token id → the bytes it stands for. Built once per tokenizer; a few MB for 200k tokens. */
export class ByteTable {
  readonly data: ByteTableData;
  /** Texts that were asked for; null for a token that is not whole characters. */
  readonly #texts: (string | null | undefined)[] = [];

  constructor(data: ByteTableData) {
    this.data = data;
  }

  /**
   * Builds the table from tokenizer.json. Byte-level entries go through the GPT-2 alphabet,
   * `<0xNN>` entries are one byte, everything else (added tokens above all) is its UTF-8 text.
   */
  static fromTokenizerJson(json: TokenizerJson): ByteTable {
    const encoder = new TextEncoder();
    const entries: Uint8Array[] = [];
    for (const [text, id] of Object.entries(json.model.vocab)) {
      entries[id] = byteFallback(text) ?? entryToBytes(text) ?? encoder.encode(text);
    }
    for (const { id, content } of json.added_tokens) entries[id] = encoder.encode(content);
    const special = new Uint8Array(entries.length);
    for (const token of json.added_tokens) special[token.id] = token.special === true ? 1 : 0;
    return new ByteTable({ ...pack(entries), special });
  }

  /** One more than the highest id. */
  get size(): number {
    return this.data.special.length;
  }

  /**
   * The bytes of a token (a view: do not write). Empty for an id above the table, because models
   * pad their vocabulary.
   * @throws TokenizerError `CHAT_TOKEN_ID` for a negative or fractional id
   */
  bytesOf(id: number): Uint8Array {
    if (!Number.isSafeInteger(id) || id < 0) {
      throw new TokenizerError(
        'CHAT_TOKEN_ID',
        `bytesOf: \`id\` is ${id}, expected an integer from 0 to ${this.size - 1}`,
      );
    }
    const { bytes, offsets } = this.data;
    return bytes.subarray(offsets[id] ?? bytes.length, offsets[id + 1] ?? bytes.length);
  }

  /**
   * The text of a token that is whole characters, whatever stands before it; null for any other.
   */
  wholeTextOf(id: number): string | null {
    const known = this.#texts[id];
    if (known !== undefined) return known;
    const text = decodeWhole(this.bytesOf(id));
    if (id < this.size) this.#texts[id] = text;
    return text;
  }

  /** True for tokens that steer the model and are not text. */
  isSpecial(id: number): boolean {
    return this.data.special[id] === 1;
  }
}

const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decodeWhole(bytes: Uint8Array): string | null {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return null;
  }
}

function byteFallback(text: string): Uint8Array | null {
  const match = /^<0x([0-9A-F]{2})>$/.exec(text);
  return match?.[1] === undefined ? null : Uint8Array.of(Number.parseInt(match[1], 16));
}

function pack(entries: readonly (Uint8Array | undefined)[]): Omit<ByteTableData, 'special'> {
  const offsets = new Uint32Array(entries.length + 1);
  for (let i = 0; i < entries.length; i++) {
    offsets[i + 1] = (offsets[i] ?? 0) + (entries[i]?.length ?? 0);
  }
  const bytes = new Uint8Array(offsets[entries.length] ?? 0);
  for (let i = 0; i < entries.length; i++) bytes.set(entries[i] ?? [], offsets[i] ?? 0);
  return { bytes, offsets };
}
