import { expect, test } from 'vitest';
import { HeldObjects } from './held-objects.js';

test('copies and takes over any number of objects', () => {
  const held = new HeldObjects();
  const object = {};
  for (let count = 0; count < 200_000; count += 1) held.keep(object);
  const other = held.copy();
  other.take(held);
  expect(other.objects.length).toBe(400_000);
});

test('takes over its own once', () => {
  const held = new HeldObjects();
  held.keep(held);
  held.take(held);
  expect(held.objects).toEqual([held, held]);
});
