import type { Backlog } from '@altstream/engine';
import { expect, it } from 'vitest';
import { Credits } from './credits.js';

it('holds prompts back at 64 open messages, everything at 128, and lets go at 32', () => {
  const told: [Backlog, number][] = [];
  const credits: Credits = new Credits((backlog) => told.push([backlog, credits.open]));
  for (let message = 0; message < 140; message += 1) credits.spend();
  for (let message = 0; message < 70; message += 1) credits.refund(2);
  expect(told).toEqual([
    ['behind', 64],
    ['stuck', 128],
    ['behind', 126],
    ['none', 32],
  ]);
  expect([credits.open, credits.backlog]).toEqual([0, 'none']);
});
