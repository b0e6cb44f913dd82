import { expect, test } from 'vitest';
import { idsOf, testTitles } from '../makers/test-titles.js';

// The lists of specification 7 (bugs of peers), 2.7 (memory) and 2.8 (threads). A test is of a
// number when its title begins with it: `#17: …`, also beside others, `#54, L14: …`.
const upTo = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);
const ids = [...upTo(55, '#'), ...upTo(17, 'L'), ...upTo(8, 'T')];

const found = testTitles().flatMap(idsOf);

test('each bug of a peer and each rule of memory and threads has a test with its number', () => {
  const covered = new Set(found);
  expect(ids.filter((id) => !covered.has(id))).toEqual([]);
});

test('no title has a number that is not in the lists', () => {
  const numbers = found.filter((id) => /^[#LT]\d+$/.test(id));
  expect(numbers.filter((id) => !ids.includes(id))).toEqual([]);
});
