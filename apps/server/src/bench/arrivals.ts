import type { SeededRandom } from './seeded-random.js';

/** How requests arrive. */
export interface ArrivalProcess {
  /** Requests a second on average; infinite = all at once. */
  readonly rate: number;
  /** Shape of the gamma distributed gaps: 1 = Poisson, below = bursts, above = evener. */
  readonly burstiness: number;
}

/**
 * When each request arrives, in milliseconds after the start of the run. The first one comes at
 * once.
 */
export function arrivalTimes(
  count: number,
  { rate, burstiness }: ArrivalProcess,
  random: SeededRandom,
): number[] {
  let at = 0;
  return Array.from({ length: count }, (_, index) => {
    if (index > 0 && Number.isFinite(rate)) {
      at += (1000 * random.gamma(burstiness)) / (burstiness * rate);
    }
    return at;
  });
}
