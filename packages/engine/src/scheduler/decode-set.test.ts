import { expect, it } from 'vitest';
import { makeSequence } from '../../test/makers/sequence.js';
import { DecodeSet } from './decode-set.js';

it('a list of rows is never changed: a step under way keeps the one that it was made of', () => {
  const set = new DecodeSet();
  const [a, b, c] = [1, 2, 3].map(() => makeSequence({ promptTokens: 1 }).sequence);
  if (!a || !b || !c) throw new Error('three were made');
  for (const one of [a, b]) set.add(one);
  const before = set.rows;
  set.settle();
  expect(set.rows).toBe(before);
  set.add(c);
  set.remove((one) => one === a);
  b.isHeld = true;
  set.settle();
  expect([before, set.rows, set.held]).toEqual([[a, b], [c], [b]]);
});

it('a row that leaves goes to the last one, and who comes back gets a new row: none moves up', () => {
  const set = new DecodeSet();
  const [a, b, c] = [1, 2, 3].map(() => makeSequence({ promptTokens: 1 }).sequence);
  if (!a || !b || !c) throw new Error('three were made');
  for (const one of [a, b, c]) set.add(one);
  a.isHeld = true;
  set.settle();
  expect([set.rows, set.held]).toEqual([[c, b], [a]]);
  a.isHeld = false;
  c.isHeld = true;
  set.settle();
  expect([set.rows, set.held]).toEqual([[b, a], [c]]);
  expect(set.remove((one) => one !== a)).toEqual([b, c]);
  expect([set.rows, set.held]).toEqual([[a], []]);
});
