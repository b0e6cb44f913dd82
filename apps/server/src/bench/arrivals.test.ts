import { describe, expect, it } from 'vitest';
import { arrivalTimes } from './arrivals.js';
import { SeededRandom } from './seeded-random.js';
import { deviationOf, meanOf } from './statistics.js';

const count = 20_000;

function gaps(rate: number, burstiness: number, seed = 1): number[] {
  const times = arrivalTimes(count, { rate, burstiness }, new SeededRandom(seed));
  return times.slice(1).map((time, index) => time - (times[index] ?? 0));
}

describe('arrivals', () => {
  it('are all at once at an infinite rate', () => {
    const arrivals = { rate: Infinity, burstiness: 1 };
    expect(arrivalTimes(3, arrivals, new SeededRandom(0))).toEqual([0, 0, 0]);
  });

  // A gamma distribution of shape k has the deviation mean / √k.
  it.each([
    [50, 1],
    [50, 0.25],
    [10, 4],
  ])('at %d/s and burstiness %d have the mean and the spread of it', (rate, burstiness) => {
    const all = gaps(rate, burstiness);
    const expected = 1000 / rate;
    expect(meanOf(all) / expected).toBeCloseTo(1, 1);
    expect((deviationOf(all) * Math.sqrt(burstiness)) / expected).toBeCloseTo(1, 1);
    expect(all.every((gap) => gap >= 0)).toBe(true);
  });

  it('are Poisson at burstiness 1: gaps above the mean are e⁻¹ of all', () => {
    const all = gaps(50, 1);
    expect(all.filter((gap) => gap > 20).length / all.length).toBeCloseTo(Math.exp(-1), 1);
  });

  it('depend on the seed only', () => {
    expect(gaps(5, 1, 7)).toEqual(gaps(5, 1, 7));
    expect(gaps(5, 1, 7)).not.toEqual(gaps(5, 1, 8));
  });
});
