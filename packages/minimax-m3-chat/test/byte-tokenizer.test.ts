import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildByteTokenizer, ChatTokenizer, controlTexts } from '../src/index.js';

const images = (image: number) => ({
  [controlTexts.image]: image,
  [controlTexts.video]: image + 1,
});

function make(vocabSize: number, specials: Record<string, number> = {}): ChatTokenizer {
  const files = buildByteTokenizer({ vocabSize, specials });
  // As a file would carry it.
  return new ChatTokenizer(JSON.parse(JSON.stringify(files.tokenizerJson)), files.tokenizerConfig);
}

describe('buildByteTokenizer', () => {
  test.each([
    [256, 200],
    [512, 510],
    [2048, 1000],
    [20_000, 5],
  ])('fills every id below vocabSize %i once', (vocabSize, image) => {
    const { tokenizerJson } = buildByteTokenizer({ vocabSize, specials: images(image) });
    const { vocab } = tokenizerJson['model'] as { vocab: Record<string, number> };
    const ids = Object.values(vocab).sort((a, b) => a - b);
    expect(ids).toEqual(Array.from({ length: vocabSize }, (_, id) => id));
    const tokenizer = make(vocabSize, images(image));
    expect(tokenizer.vocabSize).toBe(vocabSize);
    expect(tokenizer.specialId(controlTexts.image)).toBe(image);
    expect(tokenizer.specialId(controlTexts.endTurn)).toBe(1);
    for (const text of Object.values(controlTexts)) {
      expect(tokenizer.encode(text, { specials: true })).toEqual([
        tokenizer.requireSpecialId(text),
      ]);
    }
  });

  test('the smallest test vocabulary still holds every byte that UTF-8 has', () => {
    const tokenizer = make(256, images(200));
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
      }),
    );
  });

  test('merges shorten text and still give every text back', () => {
    const tokenizer = make(512, images(510));
    const text = 'These functions may be called: thinking is adaptive.';
    expect(tokenizer.encode(text).length).toBeLessThan(text.length / 1.5);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (any) => {
        expect(tokenizer.decode(tokenizer.encode(any))).toBe(any);
      }),
    );
  });

  test('maps bytes that do not fit to unk', () => {
    const tokenizer = make(120);
    const unknown = tokenizer.requireSpecialId(controlTexts.unknown);
    expect(tokenizer.encode('aé')).toEqual([...tokenizer.encode('a'), unknown, unknown]);
  });

  test('says what is wrong with a vocabulary', () => {
    const code = 'CHAT_VOCABULARY';
    expect(() => make(100)).toThrow(/`vocabSize` is 100, expected at least 106/);
    expect(() => make(256, { a: 256 })).toThrow(expect.objectContaining({ code }));
    expect(() => make(256, { a: 3, b: 3 })).toThrow(/twice/);
  });
});
