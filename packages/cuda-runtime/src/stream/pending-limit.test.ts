import { expect, test } from 'vitest';
import { QueueFullError } from '../errors/queue-full-error.js';
import { PendingLimit } from './pending-limit.js';

const stream = (pending: () => number, isCaptured = () => false) => ({ pending, isCaptured });

test('never lets more through than fit, and seldom asks', () => {
  let pending = 0;
  let asked = 0;
  const count = () => {
    asked += 1;
    return pending;
  };
  const limit = new PendingLimit({ maxPending: 200, policy: 'throw' }, 's#1', stream(count));
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

test('what a full stream records is let through, and what it submits afterwards is not', () => {
  let isCaptured = false;
  const full = stream(
    () => 200,
    () => isCaptured,
  );
  const limit = new PendingLimit({ maxPending: 200, policy: 'throw' }, 's#1', full);
  const submit = () => limit.admit('stream.launch');
  expect(submit).toThrow(QueueFullError);
  isCaptured = true;
  for (let recorded = 0; recorded < 300; recorded += 1) submit();
  isCaptured = false;
  expect(submit).toThrow(QueueFullError);
});

test('blocks until there is room', () => {
  let asked = 0;
  const count = () => {
    asked += 1;
    return asked < 4 ? 10 : 9;
  };
  new PendingLimit({ maxPending: 10, policy: 'block' }, 's#1', stream(count)).admit(
    'stream.launch',
  );
  expect(asked).toBe(4);
});

test.each([
  [768, 512],
  [4, 2],
  [2, 1],
  [1, 1],
])('a limit of %i is ready below %i', (maxPending, below) => {
  const limit = new PendingLimit(
    { maxPending, policy: 'throw' },
    's#1',
    stream(() => 0),
  );
  expect(limit.readyBelow).toBe(below);
});
