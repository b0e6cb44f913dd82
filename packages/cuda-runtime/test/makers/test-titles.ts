import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('..', import.meta.url));

/**
 * Titles of the tests of this package, and names of rows that `describeEachBackend` makes tests of.
 */
export function testTitles(): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .flatMap((file) => titlesOf(readFileSync(`${folder}/${file}`, 'utf8')));
}

/** What stands before the colon: `#17, CT02: …` is of #17 and of CT02. */
export function idsOf(title: string): readonly string[] {
  const colon = title.indexOf(':');
  const head = colon < 0 ? [] : title.slice(0, colon).split(/, ?/);
  return head.every((id) => /^(#\d+|[A-Z]{1,2}\d+([–-][A-Z]{1,2}\d+)?|CV)$/.test(id)) ? head : [];
}

function titlesOf(source: string): readonly string[] {
  // test('…', test.concurrent('…', test.each([…])('…'
  const calls = /\btest(?:\.[a-zA-Z]+)*(?:\([^;]*?\))??\(\s*(['"`])(.*?)\1/g;
  const rows = /^\s+name: (['"`])(.*)\1,$/gm;
  return [calls, rows].flatMap((pattern) =>
    [...source.matchAll(pattern)].map(([, , title = '']) => title),
  );
}
