import { expect, it } from 'vitest';
import { warnOfClocks } from './limit-clocks.js';

it('a system that tells no times of threads is named in the log', () => {
  const said: unknown[] = [];
  const logger = { warn: (...facts: unknown[]) => said.push(...facts) };
  warnOfClocks(logger, true);
  expect(said).toEqual([]);
  warnOfClocks(logger, false);
  expect(said).toEqual([expect.stringMatching(/schedstat.* limited by the clock/)]);
});
