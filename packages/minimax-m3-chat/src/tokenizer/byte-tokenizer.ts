import { TokenizerError } from '../errors/index.js';
import { defaultChatTemplate } from '../template/default-template.js';
import { controlTexts } from '../text/control-texts.js';
import { type Merge, trainMerges } from './bpe-training.js';
import { byteToCharacter } from './byte-alphabet.js';

/** What a small tokenizer is made of. */
export interface ByteTokenizerOptions {
  /** Ids in all: every id from 0 to vocabSize − 1 exists. */
  readonly vocabSize: number;
  /**
   * Ids of control tokens by text, for example `{ ']<]image[>[': 200 }`. M3's control tokens that
   * are not named here get free ids; further texts become special tokens too.
   */
  readonly specials?: Readonly<Record<string, number>>;
  /** Text to learn merges from, where ids are left. Default: the default chat template. */
  readonly corpus?: string;
}

/** The two files of a tokenizer, ready for `JSON.stringify`. */
export interface ByteTokenizerFiles {
  readonly tokenizerJson: Readonly<Record<string, unknown>>;
  readonly tokenizerConfig: Readonly<Record<string, unknown>>;
}

/**
 * Makes a byte-level BPE tokenizer with M3's control tokens for a small model: bytes first, in the
 * order of use (printable ASCII, newline, tab, the rest of UTF-8, bytes that UTF-8 never has),
 * then merges learned from `corpus`, then reserved entries until `vocabSize` is full. Without room
 * for all bytes the missing ones become unk.
 *
 * @throws TokenizerError `CHAT_VOCABULARY` if control tokens, printable ASCII, newline and tab do
 *   not fit, or an id is out of range or given twice
 */
export function buildByteTokenizer(options: ByteTokenizerOptions): ByteTokenizerFiles {
  const { vocabSize, corpus = defaultChatTemplate } = options;
  const specials = placeSpecials(vocabSize, options.specials ?? {});
  const taken = new Set(specials.values());
  const free = Array.from({ length: vocabSize }, (_, id) => id).filter((id) => !taken.has(id));
  if (free.length < requiredBytes) throw tooSmall(vocabSize, specials.size);
  const bytes = bytesByUse.slice(0, free.length).map(byteToCharacter);
  const merges = trainMerges(corpus, free.length - bytes.length, new Set(bytes));
  const entries = [...bytes, ...merges.map((merge) => merge.join(''))];
  // No merge leads to these: only the model can produce them. They are no added tokens, so that a
  // tokenizer of 200k ids stays fast.
  for (let i = 0; entries.length < free.length; i++) entries.push(`<|reserved_${i}|>`);
  const vocab = Object.fromEntries([
    ...entries.map((entry, i) => [entry, free[i]] as [string, number]),
    ...specials,
  ]);
  return { tokenizerJson: tokenizerJson(vocab, merges, specials), tokenizerConfig };
}

/** Ids 0, 1 and 2 are begin of document, end of turn and unknown, as the test configs say. */
const preferredFirst: readonly string[] = [
  controlTexts.beginDocument,
  controlTexts.endTurn,
  controlTexts.unknown,
];
const bytesByUse: readonly number[] = orderBytes();
const requiredBytes = 95 + 2;

const tokenizerConfig = {
  tokenizer_class: 'PreTrainedTokenizerFast',
  bos_token: controlTexts.beginDocument,
  eos_token: controlTexts.endTurn,
  unk_token: controlTexts.unknown,
  add_bos_token: false,
  clean_up_tokenization_spaces: false,
} as const;

function orderBytes(): number[] {
  const all = Array.from({ length: 256 }, (_, byte) => byte);
  const rank = (byte: number): number => {
    if (byte >= 0x20 && byte < 0x7f) return 0;
    if (byte === 0x0a || byte === 0x09) return 1;
    return byte === 0xc0 || byte === 0xc1 || byte >= 0xf5 ? 3 : 2;
  };
  return all.sort((a, b) => rank(a) - rank(b) || a - b);
}

function placeSpecials(
  vocabSize: number,
  given: Readonly<Record<string, number>>,
): Map<string, number> {
  const specials = new Map(Object.entries(given));
  const taken = new Set(specials.values());
  if (taken.size < specials.size) throw vocabularyError('`specials` gives an id twice');
  const outside = [...specials].find(
    ([, id]) => !Number.isSafeInteger(id) || id < 0 || id >= vocabSize,
  );
  if (outside !== undefined) {
    throw vocabularyError(
      `\`specials[${JSON.stringify(outside[0])}]\` is ${outside[1]}, expected 0 to ${vocabSize - 1}`,
    );
  }
  const missing: string[] = Object.values(controlTexts).filter((text) => !specials.has(text));
  const first = preferredFirst.filter((text) => missing.includes(text));
  const last = missing.filter((text) => !first.includes(text));
  const place = (texts: readonly string[], ids: Iterator<number>): void => {
    for (const text of texts) {
      let id = ids.next();
      while (id.done !== true && taken.has(id.value)) id = ids.next();
      if (id.done === true) throw tooSmall(vocabSize, specials.size);
      taken.add(id.value);
      specials.set(text, id.value);
    }
  };
  place(first, Array.from({ length: vocabSize }, (_, id) => id).values());
  place(
    [...last].reverse(),
    Array.from({ length: vocabSize }, (_, i) => vocabSize - 1 - i).values(),
  );
  return specials;
}

function tokenizerJson(
  vocab: Readonly<Record<string, number>>,
  merges: readonly Merge[],
  specials: ReadonlyMap<string, number>,
): Record<string, unknown> {
  const flags = {
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  };
  const byteLevel = {
    type: 'ByteLevel',
    add_prefix_space: false,
    trim_offsets: true,
    use_regex: true,
  };
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: Array.from(specials, ([content, id]) => ({ id, content, ...flags })).sort(
      (a, b) => a.id - b.id,
    ),
    normalizer: null,
    pre_tokenizer: byteLevel,
    post_processor: null,
    decoder: byteLevel,
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: controlTexts.unknown,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab,
      merges: merges.map((merge) => merge.join(' ')),
    },
  };
}

function tooSmall(vocabSize: number, specials: number): TokenizerError {
  return vocabularyError(
    `\`vocabSize\` is ${vocabSize}, expected at least ${specials + requiredBytes}: ` +
      `${specials} control tokens, 95 printable characters, newline and tab`,
  );
}

function vocabularyError(fact: string): TokenizerError {
  return new TokenizerError('CHAT_VOCABULARY', `buildByteTokenizer: ${fact}`);
}
