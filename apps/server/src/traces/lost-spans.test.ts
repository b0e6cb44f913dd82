import pino from 'pino';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { LostSpans } from './lost-spans.js';

let log: { spans: number; msg: string; error?: object }[];

beforeEach(() => {
  log = [];
  vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

const losses = () =>
  new LostSpans('queue_full', pino({}, { write: (l) => log.push(JSON.parse(l)) }));
const told = () => log.map(({ spans }) => spans);

it('lost spans are told at once, then those of each minute together', () => {
  const lost = losses();
  for (let n = 0; n < 5; n++) lost.add(1);
  expect(told()).toEqual([1]);
  expect(log[0]?.msg).toMatch(/too many wait/);
  vi.advanceTimersByTime(59_999);
  expect(told()).toEqual([1]);
  vi.advanceTimersByTime(1);
  expect(told()).toEqual([1, 4]);
  lost.add(7);
  vi.advanceTimersByTime(60_000);
  expect(told()).toEqual([1, 4, 7]);
  // A minute without any is the end of it.
  vi.advanceTimersByTime(600_000);
  lost.add(2);
  expect(told()).toEqual([1, 4, 7, 2]);
});

it('what is not told yet is told at the end, with the last reason', () => {
  const lost = losses();
  lost.add(1, new Error('one'));
  lost.add(3, new Error('other'));
  lost.close();
  expect(told()).toEqual([1, 3]);
  expect(log.map(({ error }) => error)).toMatchObject([{ message: 'one' }, { message: 'other' }]);
  lost.close();
  vi.advanceTimersByTime(600_000);
  expect(told()).toEqual([1, 3]);
});
