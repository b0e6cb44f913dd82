import { growth, type Sample } from './samples.js';
import type { SoakRun } from './soak.js';

/** A number of the run and what it may be at most; absent `most`: too few samples to judge it. */
export interface Check {
  readonly what: string;
  readonly value: number;
  readonly most?: number;
}

/** RSS moves by 30 MiB from one sample to the next: a line through three of them says nothing. */
const fewestSamples = 12;

/**
 * What has to be flat, judged by a straight line through the samples after the first third, in
 * which caches and heaps reach their size. `most` is what the line may gain over that time.
 */
export function verdict(run: SoakRun): readonly Check[] {
  const late = steady(run.samples);
  const left = Object.values(run.leftBehind).reduce((sum, count) => sum + count, 0);
  return [
    { what: 'objects left behind', value: left, most: 0 },
    {
      ...{ what: 'RSS, MiB gained', value: growth(late, 'rssMiB') },
      ...(late.length >= fewestSamples && { most: 24 }),
    },
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

/** Whether all that can be judged is as it has to be. */
export function isGood(checks: readonly Check[]): boolean {
  return checks.every(({ value, most }) => most === undefined || value <= most);
}
