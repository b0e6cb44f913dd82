import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildByteTokenizer, ChatTokenizer, controlTexts, Detokenizer } from '../src/index.js';

const tokenizer = new ChatTokenizer(buildByteTokenizer({ vocabSize: 512 }).tokenizerJson);
const table = tokenizer.bytes;
const idOfByte = new Map<number, number>();
for (let id = 0; id < table.size; id++) {
  const bytes = table.bytesOf(id);
  if (bytes.length === 1 && !table.isSpecial(id)) idOfByte.set(bytes[0] ?? -1, id);
}
const idsOf = (bytes: readonly number[]): number[] => bytes.map((byte) => idOfByte.get(byte) ?? -1);

function stream(ids: readonly number[]): string[] {
  const detokenizer = new Detokenizer(table);
  return [...ids.map((id) => detokenizer.push(id)), detokenizer.finish()];
}

describe('Detokenizer', () => {
  test('any grouping of ids gives the text of the whole', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(511)), fc.nat(50), (ids, cut) => {
        const whole = tokenizer.decode(ids);
        expect(stream(ids).join('')).toBe(whole);
        const parts = new Detokenizer(table);
        const text = parts.pushAll(ids.slice(0, cut)) + parts.pushAll(ids.slice(cut));
        expect(text + parts.finish()).toBe(whole);
      }),
    );
  });

  test('gives a character spread over tokens once and whole', () => {
    const text = '👩‍🚀é漢';
    const pieces = stream(idsOf([...Buffer.from(text)]));
    expect(pieces.join('')).toBe(text);
    for (const piece of pieces) expect(piece).not.toMatch(/\ufffd|[\ud800-\udfff]/u);
  });

  test("keeps a leading byte order mark, as Python's decode does", () => {
    expect(stream(idsOf([0xef, 0xbb, 0xbf, 0x61])).join('')).toBe('\ufeffa');
  });

  // Expected texts by Python 3: bytes(...).decode('utf-8', errors='replace').
  test.each([
    [[0xff], '\ufffd'],
    [[0x61, 0xe6, 0xbc], 'a\ufffd'],
    [[0xf0, 0x9f, 0x98], '\ufffd'],
    [[0xf0, 0x9f, 0x41], '\ufffdA'],
    [[0xe2, 0x28, 0xa1], '\ufffd(\ufffd'],
    [[0xc0, 0xaf], '\ufffd\ufffd'],
    [[0xed, 0xa0, 0x80], '\ufffd\ufffd\ufffd'],
    [[0xf4, 0x90, 0x80, 0x80], '\ufffd\ufffd\ufffd\ufffd'],
    [[0xf8, 0x88, 0x80, 0x80, 0x80], '\ufffd\ufffd\ufffd\ufffd\ufffd'],
  ])('replaces invalid bytes %j as Python does', (bytes, expected) => {
    expect(stream(idsOf(bytes)).join('')).toBe(expected);
  });

  test('keeps special tokens, skips them, or skips all but some', () => {
    const text = `a${controlTexts.namespace}b${controlTexts.endTurn}`;
    const ids = tokenizer.encode(text, { specials: true });
    const run = (options: ConstructorParameters<typeof Detokenizer>[1]): string => {
      const detokenizer = new Detokenizer(table, options);
      return detokenizer.pushAll(ids) + detokenizer.finish();
    };
    expect(run({})).toBe(text);
    expect(run({ skipSpecialTokens: true })).toBe('ab');
    expect(run({ skipSpecialTokens: true, keep: tokenizer.markerIds() })).toBe('a]<]minimax[>[b');
  });

  test('refuses tokens after its end', () => {
    const detokenizer = new Detokenizer(table);
    detokenizer.finish();
    expect(() => detokenizer.push(1)).toThrow(/finish\(\) was called before/);
  });
});
