import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Tokenizer as LibraryTokenizer } from '@huggingface/tokenizers';
import { TokenizerError } from './errors/index.js';
import type { RenderedPrompt } from './template.js';
import { controlTexts } from './text/control-texts.js';
import { AddedTokenFinder, type AddedTokenMatch } from './tokenizer/added-token-finder.js';
import { ByteTable } from './tokenizer/byte-table.js';
import { parseTokenizerJson, type TokenizerJson } from './tokenizer/tokenizer-json.js';

/** How {@link ChatTokenizer.encode} reads the literals of added tokens. */
export interface EncodeOptions {
  /** true: `[e~[` in the text becomes the control id. false: it is plain text. Default false. */
  readonly specials?: boolean;
}

/**
 * The tokenizer of a checkpoint. Added tokens are found by this class, not by the library, so
 * that text of a user can never turn into a control id (server prompt injection).
 */
export class ChatTokenizer {
  /** Literals of all added tokens, in the order of tokenizer.json. */
  readonly addedTexts: readonly string[];
  /** Token id → bytes. */
  readonly bytes: ByteTable;
  readonly #library: LibraryTokenizer;
  readonly #finder: AddedTokenFinder;
  readonly #idOfText: ReadonlyMap<string, number>;
  readonly #addedIds: ReadonlySet<number>;

  /**
   * @param tokenizerJson  parsed tokenizer.json (byte-level BPE)
   * @param tokenizerConfig  parsed tokenizer_config.json, if there is one
   * @param source  name for errors
   * @throws TokenizerError `CHAT_TOKENIZER_BROKEN`
   */
  constructor(tokenizerJson: unknown, tokenizerConfig: unknown = {}, source = 'tokenizer.json') {
    const json = parseTokenizerJson(tokenizerJson, source);
    this.#library = createLibraryTokenizer(json, tokenizerConfig, source);
    this.#finder = new AddedTokenFinder(json.added_tokens);
    this.#idOfText = new Map(json.added_tokens.map((token) => [token.content, token.id]));
    this.#addedIds = new Set(this.#idOfText.values());
    this.addedTexts = [...this.#idOfText.keys()];
    this.bytes = ByteTable.fromTokenizerJson(json);
  }

  /** One more than the highest id. */
  get vocabSize(): number {
    return this.bytes.size;
  }

  /** Encodes text. Nothing is added at either end: the chat template writes its own markers. */
  encode(text: string, options: EncodeOptions = {}): number[] {
    return this.#encode(text, options.specials === true ? this.#finder.find(text) : []);
  }

  /** Encodes a rendered prompt: literals of the template are control ids, of user text never. */
  encodePrompt(prompt: RenderedPrompt): number[] {
    return this.#encode(prompt.text, this.#finder.findIn(prompt.text, prompt.templateSpans));
  }

  /** The whole text of `ids`, special tokens included; invalid UTF-8 becomes U+FFFD. */
  decode(ids: Iterable<number>, options: { readonly skipSpecialTokens?: boolean } = {}): string {
    const kept = [...ids].filter((id) => !(options.skipSpecialTokens && this.bytes.isSpecial(id)));
    const bytes = Buffer.concat(kept.map((id) => this.bytes.bytesOf(id)));
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  }

  /** The id of an added token by its text, or undefined. */
  specialId(text: string): number | undefined {
    return this.#idOfText.get(text);
  }

  /** Like {@link specialId}, for tokens without which the model cannot be served. */
  requireSpecialId(text: string): number {
    const id = this.#idOfText.get(text);
    if (id !== undefined) return id;
    throw new TokenizerError(
      'CHAT_TOKENIZER_UNKNOWN_TEXT',
      `requireSpecialId: tokenizer.json has no added token ${JSON.stringify(text)}; ` +
        'is this the tokenizer of a MiniMax-M3 checkpoint?',
    );
  }

  /**
   * Ids of the markers that the output parser reads, for `Detokenizer`'s `keep` when it skips
   * special tokens. Markers that the tokenizer lacks are left out.
   */
  markerIds(): number[] {
    return [controlTexts.namespace, controlTexts.thinkOpen, controlTexts.thinkClose]
      .map((text) => this.specialId(text))
      .filter((id) => id !== undefined);
  }

  #encode(text: string, matches: readonly AddedTokenMatch[]): number[] {
    const ids: number[] = [];
    let at = 0;
    let strip = false;
    for (const { start, end, token } of matches) {
      const plain = trimAround(text.slice(at, start), strip, token.lstrip === true);
      for (const id of this.#encodePlain(plain)) ids.push(id);
      ids.push(token.id);
      at = end;
      strip = token.rstrip === true;
    }
    for (const id of this.#encodePlain(trimAround(text.slice(at), strip, false))) ids.push(id);
    return ids;
  }

  /** The library holds no added tokens here, yet a merge or `ignore_merges` may still reach one. */
  #encodePlain(text: string): number[] {
    if (text === '') return [];
    const ids: number[] = this.#library.encode(text, { add_special_tokens: false }).ids;
    if (!ids.some((id) => this.#isControl(id))) return ids;
    const characters = Array.from(text);
    if (characters.length === 1) return ids;
    return characters.flatMap((character) => this.#encodePlain(character));
  }

  #isControl(id: number): boolean {
    return this.#addedIds.has(id) && this.bytes.isSpecial(id);
  }
}

/**
 * Loads `tokenizer.json` (and `tokenizer_config.json` where present) of a checkpoint folder.
 * @throws TokenizerError `CHAT_TOKENIZER_MISSING`, `CHAT_TOKENIZER_BROKEN`
 */
export async function loadTokenizer(folder: string): Promise<ChatTokenizer> {
  const path = join(folder, 'tokenizer.json');
  const json = await readJson(path);
  if (json === undefined) {
    throw new TokenizerError(
      'CHAT_TOKENIZER_MISSING',
      `loadTokenizer: ${path} does not exist; copy tokenizer.json from the checkpoint`,
    );
  }
  return new ChatTokenizer(
    json,
    (await readJson(join(folder, 'tokenizer_config.json'))) ?? {},
    path,
  );
}

async function readJson(path: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new TokenizerError('CHAT_TOKENIZER_MISSING', `loadTokenizer: cannot read ${path}`, {
      cause,
    });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new TokenizerError(
      'CHAT_TOKENIZER_BROKEN',
      `loadTokenizer: ${path} is not JSON (${(cause as Error).message}); copy the file again`,
      { cause },
    );
  }
}

function createLibraryTokenizer(
  json: TokenizerJson,
  config: unknown,
  source: string,
): LibraryTokenizer {
  const absent = { normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null };
  try {
    return new LibraryTokenizer(
      { ...absent, ...json, added_tokens: [] },
      typeof config === 'object' && config !== null ? config : {},
    );
  } catch (cause) {
    throw new TokenizerError(
      'CHAT_TOKENIZER_BROKEN',
      `tokenizer: ${source} cannot be used (${(cause as Error).message})`,
      { cause },
    );
  }
}

function trimAround(text: string, start: boolean, end: boolean): string {
  const left = start ? text.trimStart() : text;
  return end ? left.trimEnd() : left;
}
