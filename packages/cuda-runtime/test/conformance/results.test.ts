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

// Rows that the table got after it was last played there. Play it again and empty the list.
const notYetPlayed: Readonly<Record<string, readonly string[]>> = {
  'conformance-cuda-13000.json': ['CG17'],
  'conformance-driver-13000.json': ['CG17'],
};

test('the README says which rows no GPU has played', () => {
  const missing = savedResults().flatMap(([file, { rows: saved }]) => {
    const there = new Set(saved.map(({ id }) => id));
    const ids = [...new Set(all.map(({ id }) => id))].filter((id) => !there.has(id));
    return ids.length > 0 ? [[file, ids]] : [];
  });
  expect(Object.fromEntries(missing)).toEqual(notYetPlayed);
  for (const id of new Set(Object.values(notYetPlayed).flat())) {
    expect(readme).toContain(`The GPU's counts are older than row ${id}`);
  }
});

test('the results of our API are of this table: `pnpm run conformance` writes them', () => {
  for (const [file, results] of savedResults()) {
    if (results.backend === 'driver') continue;
    const later = notYetPlayed[file] ?? [];
    const wanted = all
      .filter(({ id }) => !later.includes(id))
      .map(({ id, case: name, mode, guards, expected }) => {
        return { id, case: name, mode, guards, expected };
      });
    const rows = results.rows.map(({ id, case: name, mode, guards, expected }) => {
      return { id, case: name, mode, guards, expected };
    });
    expect(rows, file).toEqual(wanted);
  }
});
