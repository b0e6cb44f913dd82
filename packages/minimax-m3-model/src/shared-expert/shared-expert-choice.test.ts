import { describe, expect, it } from 'vitest';
import { chooseWay, SharedExpertChoice } from './shared-expert-choice.js';

const ways = ['separate', 'serial', 'fused'] as const;

describe('the way of the shared expert', () => {
  it.each([
    [[90, 100, 95], 'separate', 'separate saves 10.0 % over serial'],
    [[96, 100, 90], 'fused', 'fused saves 10.0 % over serial'],
    // Less than the margin, and slower: one after the other.
    [[99.2, 100, 99.5], 'serial', 'separate saves 0.8 % over serial, less than the 1 % asked for'],
    [[101, 100, 130], 'serial', 'the fastest'],
    // Hardly faster than what needs no second stream.
    [
      [138.7, 145.9, 139.4],
      'fused',
      'fused saves 4.5 % over serial; separate saves 0.5 % over fused, less than the 1 % asked for',
    ],
    [[108, 118, 112.5], 'separate', 'separate saves 8.5 % over serial'],
    // Steps of one rank of four of the 60-layer model, batch 1, 8 and 32, on an H200.
    [[7249.8, 8031.7, 7471.3], 'separate', 'separate saves 9.7 % over serial'],
    [[15092.5, 15919.3, 15384.4], 'separate', 'separate saves 5.2 % over serial'],
    [[25592.7, 26344.9, 26055.6], 'separate', 'separate saves 2.9 % over serial'],
  ])('of %j µs is %s', (us, chosen, why) => {
    expect(chooseWay(ways, us)).toEqual({ chosen, why });
  });

  it('without overlap is separate unless fused is clearly faster', () => {
    expect(chooseWay(['separate', 'fused'], [100, 99.5]).chosen).toBe('separate');
    expect(chooseWay(['separate', 'fused'], [100, 90]).chosen).toBe('fused');
    expect(chooseWay(['separate'], [100]).chosen).toBe('separate');
  });

  it('is told with the times it rests on, and what measuring took', () => {
    const choice = new SharedExpertChoice('auto');
    const us = { separateUs: 9, serialUs: 8, fusedUs: 10 };
    const one = { chosen: 'serial', why: 'the fastest', layers: 16, replays: 20 } as const;
    const measured = [1, 8].map((tokens) => ({ tokens, ...us, ...one, seconds: 0.25 }));
    for (const measurement of measured) choice.record(measurement);
    expect(choice.describe()).toMatchObject({ mode: 'auto', measured, seconds: 0.5 });
    expect([choice.wayOf(8), choice.wayOf(4)]).toEqual(['serial', 'separate']);
    expect([choice.measurementOf(8), choice.measurementOf(4)]).toEqual([measured[1], undefined]);
  });
});
