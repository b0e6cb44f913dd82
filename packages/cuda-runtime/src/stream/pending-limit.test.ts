import { expect, test } from 'vitest';
import { QueueFullError } from '../errors/queue-full-error.js';
import { PendingLimit } from './pending-limit.js';

test('never lets more through than fit, and seldom asks', () => {
  let pending = 0;
  let asked = 0;
  const count = () => {
    asked += 1;
    return pending;
  };
  const limit = new PendingLimit({ maxPending: 200, policy: 'throw' }, 's#1', count);
  const submitAll = () => {
    for (;;) {
      limit.admit('stream.launch');
      pending += 1;
    }
  };
  expect(submitAll).toThrow(QueueFullError);
  expect(pending).toBe(200);
  expect(asked).toBeLessThan(8);
  pending = 190;
  expect(submitAll).toThrow(/200 operations are pending/);
  expect(pending).toBe(200);
});

test('blocks until there is room', () => {
  let asked = 0;
  const count = () => {
    asked += 1;
    return asked < 4 ? 10 : 9;
  };
  new PendingLimit({ maxPending: 10, policy: 'block' }, 's#1', count).admit('stream.launch');
  expect(asked).toBe(4);
});

test.each([
  [768, 512],
  [4, 2],
  [2, 1],
  [1, 1],
])('a limit of %i is ready below %i', (maxPending, below) => {
  const limit = new PendingLimit({ maxPending, policy: 'throw' }, 's#1', () => 0);
  expect(limit.readyBelow).toBe(below);
});
