import { describe, expect, test } from 'vitest';
import { glibcShortfall, glibcVersion } from './glibc-floor.js';

describe('a binary that needs glibc 2.35', () => {
  test.each(['2.35', '2.36', '2.100', '3.0'])('is loaded on %s', (present) => {
    expect(glibcShortfall('2.35', present)).toBeUndefined();
  });

  test.each([
    ['2.34', 'glibc 2.34'],
    ['2.4', 'glibc 2.4'],
    [undefined, 'another C library'],
  ])('is not loaded on %s', (present, words) => {
    expect(glibcShortfall('2.35', present)).toBe(
      `LIBC: it needs glibc 2.35 or newer, this system has ${words}`,
    );
  });
});

test('this system is asked without looking up the names of its connections', () => {
  const reporter: NodeJS.ProcessReport & { excludeNetwork?: boolean } = process.report;
  const before = reporter.excludeNetwork;
  expect(glibcVersion() ?? 'none').toMatch(/^(\d+\.\d+|none)$/);
  expect(reporter.excludeNetwork).toBe(before);
});
