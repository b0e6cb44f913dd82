import { expect, test } from 'vitest';
import { clip, escapeXml, printable } from './svg-text.js';

// XML 1.0, 2.2: what a document can hold.
const legal = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u;

test('every character becomes one that XML can hold', () => {
  for (let code = 0; code <= 0xffff; code += 1) {
    expect(escapeXml(String.fromCharCode(code)), code.toString(16)).toMatch(legal);
  }
  expect(printable('a\u0000b\u001b[31m\u007f')).toBe('a␀b␛[31m\ufffd');
  expect(printable('tab\tline\n')).toBe('tab\tline\n');
  expect(printable('half \ud83d, whole 😀')).toBe('half \ufffd, whole 😀');
});

test('a character that is cut in two by clipping is none', () => {
  const clipped = escapeXml(clip('😀'.repeat(20), 60));
  expect(clipped).toMatch(legal);
});
