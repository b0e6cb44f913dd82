import { ParserError } from './errors/index.js';
import type { ByteTable } from './tokenizer/byte-table.js';

/** What a {@link Detokenizer} leaves out. */
export interface DetokenizerOptions {
  /** Leave special tokens out of the text. Default false: the output parser needs its markers. */
  readonly skipSpecialTokens?: boolean;
  /** Special ids that stay in the text although special tokens are skipped. */
  readonly keep?: Iterable<number>;
}

/** Bytes above are of characters of several bytes. */
const lastAscii = 0x7f;

/**
 * Turns token ids into text while they arrive. A character whose bytes are spread over tokens
 * comes out whole and once; bytes that are not UTF-8 become U+FFFD as in Python's
 * `errors='replace'`. Any grouping of the same ids gives the same text.
 */
export class Detokenizer {
  readonly #table: ByteTable;
  readonly #skip: boolean;
  readonly #keep: ReadonlySet<number>;
  // A leading U+FEFF is text here; TextDecoder would drop it.
  readonly #decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });
  /** False if the decoder surely waits for no more bytes of a character. */
  #mayWait = false;
  #finished = false;

  constructor(table: ByteTable, options: DetokenizerOptions = {}) {
    this.#table = table;
    this.#skip = options.skipSpecialTokens === true;
    this.#keep = new Set(options.keep ?? []);
  }

  /** The text that is certain after one more token. May be empty. */
  push(id: number): string {
    if (this.#finished) throw finished('push');
    if (this.#skip && this.#table.isSpecial(id) && !this.#keep.has(id)) return '';
    const whole = this.#mayWait ? null : this.#table.wholeTextOf(id);
    if (whole !== null) return whole;
    const bytes = this.#table.bytesOf(id);
    const last = bytes.at(-1);
    if (last !== undefined) this.#mayWait = last > lastAscii;
    return this.#decoder.decode(bytes, { stream: true });
  }

  /** {@link push} for several tokens. */
  pushAll(ids: Iterable<number>): string {
    let text = '';
    for (const id of ids) text += this.push(id);
    return text;
  }

  /** The rest: U+FFFD if the last character was left incomplete, else nothing. */
  finish(): string {
    if (this.#finished) throw finished('finish');
    this.#finished = true;
    return this.#decoder.decode();
  }
}

function finished(operation: string): ParserError {
  return new ParserError(
    'CHAT_PARSER_FINISHED',
    `Detokenizer.${operation}: finish() was called before; make a new one per sequence`,
  );
}
