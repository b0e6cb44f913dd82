import { describe, expect, it } from 'vitest';
import { TokenRate } from './token-rate.js';

describe('the rate of tokens', () => {
  it('is a mean over the last ten seconds', () => {
    let ms = 5000;
    const rate = new TokenRate(() => ms);
    rate.add(30);
    expect(rate.perSecond).toBe(30);
    ms += 2000;
    expect(rate.perSecond).toBe(10);
    rate.add(30);
    ms += 7999;
    expect(rate.perSecond).toBe(6);
    ms += 1;
    expect(rate.perSecond).toBe(3);
    ms += 3_600_000;
    expect(rate.perSecond).toBe(0);
  });
});
