import { TokenizerError } from '../errors/index.js';

/** Ids below this; tables are as long as the highest id. */
const maxIds = 2 ** 24;

/** One entry of `added_tokens` in tokenizer.json. */
export interface AddedTokenJson {
  readonly id: number;
  readonly content: string;
  readonly special?: boolean;
  readonly lstrip?: boolean;
  readonly rstrip?: boolean;
  readonly single_word?: boolean;
  readonly normalized?: boolean;
}

/** The parts of tokenizer.json that this package reads itself. */
export interface TokenizerJson {
  readonly added_tokens: readonly AddedTokenJson[];
  readonly model: { readonly type: string; readonly vocab: Readonly<Record<string, number>> };
  readonly [field: string]: unknown;
}

/**
 * Checks the shape of a parsed tokenizer.json.
 * @param source name used in errors, for example the file's path
 * @throws TokenizerError `CHAT_TOKENIZER_BROKEN`
 */
export function parseTokenizerJson(value: unknown, source: string): TokenizerJson {
  if (!isRecord(value)) throw broken(source, 'the root', 'an object', value);
  const { model, added_tokens: added = [] } = value;
  if (!isRecord(model)) throw broken(source, '`model`', 'an object', model);
  if (model['type'] !== 'BPE') throw broken(source, '`model.type`', '"BPE"', model['type']);
  if (!isRecord(model['vocab'])) throw broken(source, '`model.vocab`', 'an object', model['vocab']);
  for (const [text, id] of Object.entries(model['vocab'])) {
    if (!isId(id)) throw broken(source, `\`model.vocab[${JSON.stringify(text)}]\``, 'an id', id);
  }
  if (!Array.isArray(model['merges'])) {
    throw broken(source, '`model.merges`', 'an array', model['merges']);
  }
  if (!Array.isArray(added)) throw broken(source, '`added_tokens`', 'an array', added);
  for (const [i, token] of added.entries()) {
    if (!isRecord(token) || !isId(token['id']) || !isNonEmpty(token['content'])) {
      throw broken(source, `\`added_tokens[${i}]\``, '{ id, content }', token);
    }
  }
  return { ...value, added_tokens: added, model } as unknown as TokenizerJson;
}

function broken(source: string, what: string, expected: string, received: unknown): TokenizerError {
  const shown = JSON.stringify(received)?.slice(0, 80) ?? 'absent';
  return new TokenizerError(
    'CHAT_TOKENIZER_BROKEN',
    `tokenizer: ${what} of ${source} is ${shown}, expected ${expected}; ` +
      'copy tokenizer.json from the checkpoint again',
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isId(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value < maxIds;
}

function isNonEmpty(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0;
}
