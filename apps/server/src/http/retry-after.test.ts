import { describe, expect, it } from 'vitest';
import { retryAfterMs } from './retry-after.js';

const middle = () => 0.5;

describe('the time to come back', () => {
  it.each([
    [1000, 100, 10_000],
    [1001, 100, 11_000],
    [0, 100, 1000],
    [1_000_000, 10, 60_000],
    [1000, 0, 2000],
  ])('%i tokens wait, %i a second: %i ms', (queued, perSecond, ms) => {
    expect(retryAfterMs(queued, perSecond, middle)).toBe(ms);
  });

  it('differs by a fifth either way', () => {
    expect(retryAfterMs(1000, 100, () => 0)).toBe(8000);
    expect(retryAfterMs(1000, 100, () => 0.999_999)).toBe(12_000);
  });
});
