import { describe, expect, test } from 'vitest';
import { expectClose } from './expect-close.js';
import { seededRandom } from './seeded-random.js';

describe('expectClose', () => {
  test('passes inside the tolerance and where both are the same special value', () => {
    expectClose([1, Number.NaN, Infinity, 0], [1.001, Number.NaN, Infinity, -0], {
      relative: 0.01,
    });
  });

  test.each([
    [
      'the worst index and both values',
      [1, 2, 9],
      [1, 3, 3],
      /2 of 3 .* worst at 2: 9, expected 3/,
    ],
    ['a NaN where a number is expected', [Number.NaN], [0], /worst at 0: NaN, expected 0/],
    ['a finite number where infinity is expected', [1e30], [Infinity], /worst at 0/],
    ['another length', [1], [1, 2], /1 values, expected 2/],
  ])('names %s', (_, actual, expected, message) => {
    expect(() => expectClose(actual, expected)).toThrow(message);
  });

  test('a tolerance that is just too small fails', () => {
    expect(() => expectClose([1.1], [1], { absolute: 0.0999 })).toThrow('difference');
    expectClose([1.1], [1], { absolute: 0.1001 });
  });
});

describe('seededRandom', () => {
  test('the same seed gives the same numbers, another seed others', () => {
    expect(seededRandom(5).floats(4)).toEqual(seededRandom(5).floats(4));
    expect(seededRandom(5).floats(4)).not.toEqual(seededRandom(6).floats(4));
  });

  test('numbers lie in their range and have the moments of their distribution', () => {
    const random = seededRandom(1);
    const whole = Array.from({ length: 6000 }, () => random.integer(-2, 4));
    expect(new Set(whole)).toEqual(new Set([-2, -1, 0, 1, 2, 3]));
    const normal = seededRandom(2).floats(20_000, 3);
    const mean = normal.reduce((sum, x) => sum + x, 0) / normal.length;
    const variance = normal.reduce((sum, x) => sum + (x - mean) ** 2, 0) / normal.length;
    expect(Math.abs(mean)).toBeLessThan(0.1);
    expect(variance).toBeGreaterThan(8.5);
    expect(variance).toBeLessThan(9.5);
  });
});
