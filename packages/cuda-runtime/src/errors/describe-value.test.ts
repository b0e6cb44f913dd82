import { expect, test } from 'vitest';
import { describeValue } from './describe-value.js';

const hostile = new Proxy(
  {},
  {
    get() {
      throw new Error('trap');
    },
  },
);

test.each<[unknown, string]>([
  [undefined, 'undefined'],
  [null, 'null'],
  [Number.NaN, 'NaN'],
  ['text', 'text'],
  ['7', '"7"'],
  ['', '""'],
  [' text', '" text"'],
  ['true', '"true"'],
  ['x'.repeat(200), `${'x'.repeat(120)}…`],
  [10n ** 200n, `1${'0'.repeat(119)}…`],
  [5n, '5n'],
  [Symbol('a'), 'Symbol(a)'],
  [() => 1, 'a function'],
  [function* () {}, 'a generator function'],
  [async function* () {}, 'a generator function'],
  [[1, 2], 'an array of 2'],
  [new Map(), 'an object (Map)'],
  [Object.create(null), 'an object'],
  [hostile, 'an object'],
])('%# is described', (value, text) => {
  expect(describeValue(value)).toBe(text);
});
