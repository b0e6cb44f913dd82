import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ByteTable,
  buildByteTokenizer,
  ChatTokenizer,
  controlTexts,
  loadTokenizer,
} from '../src/index.js';

const { tokenizerJson, tokenizerConfig } = buildByteTokenizer({ vocabSize: 512 });
const tokenizer = new ChatTokenizer(tokenizerJson, tokenizerConfig);
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chat-tokenizer-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('ChatTokenizer', () => {
  test('reads control literals only when asked', () => {
    const text = `a${controlTexts.endTurn}b`;
    const end = tokenizer.requireSpecialId(controlTexts.endTurn);
    expect(tokenizer.encode(text, { specials: true })).toContain(end);
    expect(tokenizer.encode(text)).not.toContain(end);
    expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
  });

  test('gives no control id for plain text, whatever the text', () => {
    const literal = fc.constantFrom(
      ...tokenizer.addedTexts,
      ...tokenizer.addedTexts.map((t) => t.slice(1)),
    );
    const text = fc.array(fc.oneof(literal, fc.string())).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (any) => {
        const ids = tokenizer.encode(any);
        expect(ids.some((id) => tokenizer.bytes.isSpecial(id))).toBe(false);
        expect(tokenizer.decode(ids)).toBe(any);
      }),
    );
  });

  test('takes a literal of the template behind a piece of one of the user, and only whole ones', () => {
    const text = '[e~[e~[';
    const end = tokenizer.requireSpecialId(controlTexts.endTurn);
    const ids = tokenizer.encodePrompt({ text, templateSpans: [{ start: 3, end: 7 }] });
    expect(ids.at(-1)).toBe(end);
    expect(ids.filter((id) => id === end)).toHaveLength(1);
    expect(tokenizer.encodePrompt({ text, templateSpans: [{ start: 4, end: 7 }] })).not.toContain(
      end,
    );
  });

  test('leaves special tokens out of a decode on request', () => {
    const ids = tokenizer.encode(`a${controlTexts.endTurn}`, { specials: true });
    expect(tokenizer.decode(ids, { skipSpecialTokens: true })).toBe('a');
  });

  test('knows no id for text that is no added token', () => {
    expect(tokenizer.specialId('hello')).toBeUndefined();
    expect(() => tokenizer.requireSpecialId('hello')).toThrow(/has no added token "hello"/);
  });

  test('lists the markers of the output format', () => {
    expect(tokenizer.markerIds().map((id) => tokenizer.decode([id]))).toEqual([
      controlTexts.namespace,
      controlTexts.thinkOpen,
      controlTexts.thinkClose,
    ]);
  });
});

describe('ByteTable', () => {
  test('survives a structured clone, ids above it are empty', () => {
    const copy = new ByteTable(structuredClone(tokenizer.bytes.data));
    const [id = -1] = tokenizer.encode('\n');
    expect([...copy.bytesOf(id)]).toEqual([10]);
    expect(copy.bytesOf(512)).toHaveLength(0);
    expect(copy.bytesOf(9999)).toHaveLength(0);
    expect(() => copy.bytesOf(-1)).toThrow(expect.objectContaining({ code: 'CHAT_TOKEN_ID' }));
  });
});

describe('loadTokenizer', () => {
  test('says which file is missing or broken', async () => {
    const code = (value: string) => expect.objectContaining({ code: value });
    await expect(loadTokenizer(folder)).rejects.toThrow(code('CHAT_TOKENIZER_MISSING'));
    const path = join(folder, 'tokenizer.json');
    await writeFile(path, '{');
    await expect(loadTokenizer(folder)).rejects.toThrow(code('CHAT_TOKENIZER_BROKEN'));
    await writeFile(path, '{"model":{"type":"WordPiece"}}');
    await expect(loadTokenizer(folder)).rejects.toThrow(/`model.type` of .* is "WordPiece"/);
    await writeFile(path, '{"model":{"type":"BPE","vocab":{"a":-1},"merges":[]}}');
    await expect(loadTokenizer(folder)).rejects.toThrow(/expected an id/);
  });

  test('loads a folder', async () => {
    await writeFile(join(folder, 'tokenizer.json'), JSON.stringify(tokenizerJson));
    await writeFile(join(folder, 'tokenizer_config.json'), JSON.stringify(tokenizerConfig));
    const loaded = await loadTokenizer(folder);
    expect(loaded.encode('hello')).toEqual(tokenizer.encode('hello'));
  });
});
