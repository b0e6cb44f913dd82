import { expect, it } from 'vitest';
import { numberText, secondsText, shareText } from './number-text.js';
import { problemText } from './problem-text.js';

it('writes numbers with three digits that count', () => {
  const texts = [0, 0.5, 12.34, 1234567, -3.456, undefined, Number.NaN].map(numberText);
  expect(texts).toEqual(['0', '0.50', '12.3', '1\u202f234\u202f567', '-3.46', '–', '–']);
  expect([1.5, 0.0123, 0.000042, undefined].map(secondsText)).toEqual([
    '1.50 s',
    '12.3 ms',
    '42 µs',
    '–',
  ]);
  expect([1, 0.123].map(shareText)).toEqual(['100 %', '12.3 %']);
});

it('says what an error body says, or the status', () => {
  expect(problemText(400, '{"error":{"message":"bad"}}')).toBe('bad (400)');
  expect(problemText(502, '<html>')).toBe('the server answered with status 502');
  expect(problemText(500, 'null')).toBe('the server answered with status 500');
});
