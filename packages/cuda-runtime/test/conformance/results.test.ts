import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { savedResults } from './results.js';
import { plays } from './table.js';

const all = [...plays(false), ...plays(true)];
const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

test('the README shows the counts of the saved results, and no others', () => {
  const line = /^\| `(conformance-[^`]+)` *\| (\d+) *\| (\d+) *\| (\d+) *\|$/gm;
  const shown = [...readme.matchAll(line)].map(([, file, ...counts]) => [file, counts.map(Number)]);
  const saved = savedResults().map(([file, results]) => [
    file,
    [results.right, results.different, results.notPlayed],
  ]);
  expect(shown).toEqual(saved);
});

test('the saved counts are those of the saved rows', () => {
  for (const [file, { rows, ...counts }] of savedResults()) {
    const count = (right: boolean | undefined) => rows.filter((row) => row.right === right).length;
    expect(counts, file).toMatchObject({
      right: count(true),
      different: count(false),
      notPlayed: count(undefined),
    });
  }
});

test('no row of the table is missing in the saved results', () => {
  const ids = [...new Set(all.map(({ id }) => id))];
  for (const [file, { rows: saved }] of savedResults()) {
    const there = new Set(saved.map(({ id }) => id));
    expect(
      ids.filter((id) => !there.has(id)),
      file,
    ).toEqual([]);
  }
});

test('the results of our API are of this table: `pnpm run conformance` writes them', () => {
  for (const [file, results] of savedResults()) {
    if (results.backend === 'driver') continue;
    const wanted = all.map(({ id, case: name, mode, guards, expected }) => {
      return { id, case: name, mode, guards, expected };
    });
    const rows = results.rows.map(({ id, case: name, mode, guards, expected }) => {
      return { id, case: name, mode, guards, expected };
    });
    expect(rows, file).toEqual(wanted);
  }
});
