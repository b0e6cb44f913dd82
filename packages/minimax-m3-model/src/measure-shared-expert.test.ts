import { describe, expect, it } from 'vitest';
import { chooseWay } from './measure-shared-expert.js';

const ways = ['separate', 'serial', 'fused'] as const;

describe('the way of the shared expert', () => {
  it.each([
    [[90, 100, 95], 'separate'],
    [[99, 100, 90], 'fused'],
    // Less than the margin, and slower: one after the other.
    [[98, 100, 99], 'serial'],
    [[101, 100, 130], 'serial'],
  ])('of %j µs is %s', (us, way) => {
    expect(chooseWay(ways, us)).toBe(way);
  });

  it('without overlap is separate unless fused is clearly faster', () => {
    expect(chooseWay(['separate', 'fused'], [100, 98])).toBe('separate');
    expect(chooseWay(['separate', 'fused'], [100, 90])).toBe('fused');
    expect(chooseWay(['separate'], [100])).toBe('separate');
  });
});
