import { expect, it } from 'vitest';
import { numbersText } from './numbers-text.js';

it('says what is known and nothing else', () => {
  expect(numbersText({})).toBe('');
  const numbers = { promptTokens: 1200, cachedTokens: 0, completionTokens: 24, reasoningTokens: 3 };
  expect(numbersText({ ...numbers, firstMs: 12.34, totalMs: 1500, tokensPerSecond: 80.123 })).toBe(
    '24 tokens · 3 of them thoughts · 80.1 tokens/s · first after 12.3 ms · 1.50 s in all · prompt 1\u202f200 tokens',
  );
});
