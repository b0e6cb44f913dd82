import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

// The list of specification 7. A test is of a number when its title begins with it: `#17: …`, also
// beside other names, `#54, L14: …`.
const numbers = Array.from({ length: 55 }, (_, index) => index + 1);

const folder = fileURLToPath(new URL('..', import.meta.url));
const titles = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .flatMap((file) => titlesOf(readFileSync(`${folder}/${file}`, 'utf8')));

test('each bug of a peer has a test with its number', () => {
  const covered = new Set(titles.flatMap(numbersOf));
  expect(numbers.filter((number) => !covered.has(number))).toEqual([]);
});

test('no title has a number that is not in the list', () => {
  const found = titles.flatMap(numbersOf);
  expect(found.filter((number) => !numbers.includes(number))).toEqual([]);
});

function titlesOf(source: string): readonly string[] {
  // test('…', test.concurrent('…', test.each([…])('…'
  const calls = source.matchAll(/\btest(?:\.[a-zA-Z]+)*(?:\([^;]*?\))??\(\s*(['"`])(.*?)\1/g);
  return [...calls].map(([, , title = '']) => title);
}

function numbersOf(title: string): readonly number[] {
  const head = title.startsWith('#') ? title.slice(0, Math.max(0, title.indexOf(':'))) : '';
  return [...head.matchAll(/#(\d+)/g)].map(([, digits]) => Number(digits));
}
