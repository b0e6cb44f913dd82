import { expect, it } from 'vitest';
import { FlightRecorder } from './flight-recorder.js';

const plan = (step: number) => ({
  step,
  decodeRows: 2,
  prefillPieces: 1,
  prefillTokens: 64,
  running: 3,
  waiting: 4,
  pages: { total: 10, free: 5, evictable: 1, pinned: 4, reserved: 6 },
});

it('keeps the last hundred steps, in memory that another thread reads', () => {
  const written = new FlightRecorder();
  expect(written.records).toEqual([]);
  written.add(plan(1), 17.5);
  const read = new FlightRecorder(written.memory);
  expect(read.records).toEqual([
    {
      atMs: 17.5,
      step: 1,
      decodeRows: 2,
      prefillPieces: 1,
      prefillTokens: 64,
      running: 3,
      waiting: 4,
      freePages: 5,
      evictablePages: 1,
      pinnedPages: 4,
      reservedPages: 6,
    },
  ]);
  for (let step = 2; step <= 250; step += 1) written.add(plan(step));
  expect(read.records.map(({ step }) => step)).toEqual(
    Array.from({ length: 100 }, (_, index) => 151 + index),
  );
});
