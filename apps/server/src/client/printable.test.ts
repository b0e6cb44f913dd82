import { expect, it } from 'vitest';
import { printable } from './printable.js';

it('shows control characters and leaves text alone', () => {
  expect(printable('a\tb\nç 🌦 世界 \u00A0')).toBe('a\tb\nç 🌦 世界 \u00A0');
  expect(printable('\u001b[2J\r\u0007\u0000\u007F\u009B2J')).toBe('␛[2J␍␇␀\uFFFD\uFFFD2J');
});
