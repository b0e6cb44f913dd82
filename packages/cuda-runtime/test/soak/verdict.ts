import { growth, type Sample } from './samples.js';
import type { SoakRun } from './soak.js';

/** A number of the run and what it may be at most. */
export interface Check {
  readonly what: string;
  readonly value: number;
  readonly most: number;
}

/**
 * What has to be flat, judged by a straight line through the samples after the first third, in
 * which caches and heaps reach their size. `most` is what the line may gain over that time.
 */
export function verdict(run: SoakRun): readonly Check[] {
  const late = steady(run.samples);
  const left = Object.values(run.leftBehind).reduce((sum, count) => sum + count, 0);
  return [
    { what: 'objects left behind', value: left, most: 0 },
    { what: 'RSS, MiB gained', value: growth(late, 'rssMiB'), most: 24 },
    { what: 'JavaScript heap, MiB gained', value: growth(late, 'heapMiB'), most: 4 },
    { what: 'device memory, MiB gained', value: growth(late, 'deviceMiB'), most: 4 },
    { what: 'threads gained', value: growth(late, 'threads'), most: 4 },
    { what: 'open files gained', value: growth(late, 'files'), most: 2 },
  ];
}

/** The samples that count. */
export function steady(samples: readonly Sample[]): readonly Sample[] {
  return samples.slice(Math.floor(samples.length / 3));
}
