import { describe, expect, it } from 'vitest';
import { parseMarkup } from './markup.js';

const text = (shown: string) => ({ kind: 'paragraph', spans: [{ kind: 'text', text: shown }] });

describe('parseMarkup', () => {
  it('sets code apart, and keeps everything else as it was written', () => {
    expect(parseMarkup('a\nb\n\n```ts\nx < y\n\n**z**\n```\n<b>c</b>')).toEqual([
      text('a\nb'),
      { kind: 'code', language: 'ts', text: 'x < y\n\n**z**' },
      text('<b>c</b>'),
    ]);
  });

  it('takes the rest for code while a fence is open, and a longer fence around a shorter', () => {
    expect(parseMarkup('```\nhalf')).toEqual([{ kind: 'code', language: '', text: 'half' }]);
    expect(parseMarkup('````\n```\n````')).toEqual([{ kind: 'code', language: '', text: '```' }]);
  });

  it('knows code and bold within a line only when they are closed', () => {
    expect(parseMarkup('a `b` **c** `d **e')).toEqual([
      {
        kind: 'paragraph',
        spans: [
          { kind: 'text', text: 'a ' },
          { kind: 'code', text: 'b' },
          { kind: 'text', text: ' ' },
          { kind: 'strong', text: 'c' },
          { kind: 'text', text: ' `d **e' },
        ],
      },
    ]);
  });

  it('takes time by length only: a megabyte of open marks is read at once', () => {
    for (const hostile of ['`', '**', '```', '`\n', '**a', '~~~ ']) {
      const long = hostile.repeat(2 ** 20 / hostile.length);
      const started = performance.now();
      parseMarkup(long);
      expect(performance.now() - started, hostile).toBeLessThan(10_000);
    }
  });
});
