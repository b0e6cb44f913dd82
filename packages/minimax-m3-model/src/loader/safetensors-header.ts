/**
 * Parses the JSON header of a safetensors file. Nothing in it is believed: every name, type, shape
 * and offset is checked before one byte of tensor data is touched.
 */

import { CheckpointError } from '../errors/index.js';
import { type StoredDType, type StoredTensor, storedDTypeBytes } from './tensor-source.js';

/** Largest header that the format allows, in bytes. */
export const maxHeaderBytes = 100_000_000;

/** A header that is wrong, with the file's name. */
export function headerError(file: string, problem: string): CheckpointError {
  return new CheckpointError(
    'MODEL_CHECKPOINT_HEADER',
    `\`${file}\` is no valid safetensors file: ${problem}; fetch or write it again`,
    { facts: { file, problem } },
  );
}

/**
 * The tensors that a header lists, in order of their bytes.
 *
 * @param text the JSON text, padding included
 * @param place where the data begins in the file and how many bytes of it there are
 */
export function parseHeader(
  file: string,
  text: string,
  place: { readonly dataStart: number; readonly dataBytes: number },
): StoredTensor[] {
  const json = parseObject(file, text);
  refuseDuplicates(file, topLevelKeys(text));
  checkMetadata(file, json['__metadata__']);
  const tensors = Object.entries(json)
    .filter(([name]) => name !== '__metadata__')
    .map(([name, entry]) => parseEntry(file, name, entry, place));
  return checkLayout(file, tensors, place);
}

function parseObject(file: string, text: string): Record<string, unknown> {
  if (!text.startsWith('{')) throw headerError(file, 'its header does not begin with `{`');
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (error) {
    throw headerError(file, `its header is not JSON: ${(error as Error).message}`);
  }
}

function refuseDuplicates(file: string, keys: readonly string[]): void {
  const seen = new Set<string>();
  for (const key of keys) {
    if (seen.has(key)) throw headerError(file, `it lists \`${key}\` twice`);
    seen.add(key);
  }
}

function checkMetadata(file: string, metadata: unknown): void {
  if (metadata === undefined) return;
  const isTexts =
    typeof metadata === 'object' &&
    metadata !== null &&
    Object.values(metadata).every((value) => typeof value === 'string');
  if (!isTexts) throw headerError(file, '`__metadata__` is no map of texts');
}

function parseEntry(
  file: string,
  name: string,
  entry: unknown,
  place: { readonly dataStart: number; readonly dataBytes: number },
): StoredTensor {
  const fail = (problem: string) => headerError(file, `tensor \`${name}\` ${problem}`);
  if (typeof entry !== 'object' || entry === null) throw fail('is no object');
  const { dtype, shape, data_offsets: offsets } = entry as Record<string, unknown>;
  if (typeof dtype !== 'string' || !Object.hasOwn(storedDTypeBytes, dtype)) {
    throw fail(`has the unknown dtype ${JSON.stringify(dtype)}`);
  }
  if (!isCounts(shape))
    throw fail(`has the shape ${JSON.stringify(shape)}, expected whole numbers`);
  if (!isCounts(offsets) || offsets.length !== 2) {
    throw fail(`has the data_offsets ${JSON.stringify(offsets)}, expected [begin, end]`);
  }
  const [begin = 0, end = 0] = offsets;
  if (begin > end || end > place.dataBytes) {
    throw fail(
      `has the data_offsets [${begin}, ${end}], but the data has ${place.dataBytes} bytes`,
    );
  }
  const size = storedDTypeBytes[dtype as StoredDType];
  const expected = shape.reduce((product, dim) => product * dim, size);
  if (expected !== end - begin) {
    throw fail(
      `is ${dtype} [${shape.join(', ')}], which takes ${expected} bytes, ` +
        `but data_offsets span ${end - begin}`,
    );
  }
  const offset = place.dataStart + begin;
  return { name, dtype: dtype as StoredDType, shape, file, offset, bytes: end - begin };
}

/** The format allows neither overlaps nor holes: the tensors cover the data exactly. */
function checkLayout(
  file: string,
  tensors: readonly StoredTensor[],
  place: { readonly dataStart: number; readonly dataBytes: number },
): StoredTensor[] {
  const sorted = [...tensors].sort((a, b) => a.offset - b.offset || a.bytes - b.bytes);
  let end = place.dataStart;
  let last = 'the header';
  for (const { name, offset, bytes } of sorted) {
    if (offset < end) throw headerError(file, `tensors \`${last}\` and \`${name}\` overlap`);
    if (offset > end) {
      throw headerError(
        file,
        `${offset - end} bytes between \`${last}\` and \`${name}\` are unused`,
      );
    }
    end = offset + bytes;
    last = name;
  }
  const rest = place.dataStart + place.dataBytes - end;
  if (rest > 0) throw headerError(file, `${rest} bytes after \`${last}\` belong to no tensor`);
  return sorted;
}

function isCounts(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((n) => Number.isSafeInteger(n) && n >= 0);
}

/**
 * The keys of the outermost object as written: `JSON.parse` would keep only one of two equal ones.
 */
function topLevelKeys(text: string): string[] {
  const keys: string[] = [];
  let depth = 0;
  let isKey = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === '"') {
      const start = i++;
      while (i < text.length && text[i] !== '"') i += text[i] === '\\' ? 2 : 1;
      if (depth === 1 && isKey) keys.push(JSON.parse(text.slice(start, i + 1)) as string);
      isKey = false;
    } else if (char === '{' || char === '[') {
      depth++;
      isKey = depth === 1;
    } else if (char === '}' || char === ']') depth--;
    else if (char === ',' && depth === 1) isKey = true;
  }
  return keys;
}
