import { expect, test } from 'vitest';
import { programs } from './all-programs.js';
import { plays, rows } from './table.js';

// The rows of each family in the specification, 3.3; CP11, CP12 and CG17 were asked of the driver
// later.
const counts = {
  CB: 24,
  CU: 34,
  CL: 6,
  CX: 28,
  CT: 7,
  CI: 7,
  CG: 17,
  CV: 11,
  CM: 10,
  CP: 12,
  CE: 5,
  CK: 1,
  CH: 3,
  CD: 4,
};

test('the table has every row exactly once', () => {
  const wanted = Object.entries(counts).flatMap(([family, count]) =>
    Array.from({ length: count }, (_, index) => `${family}${String(index + 1).padStart(2, '0')}`),
  );
  expect(rows.map(({ id }) => id).sort()).toEqual(wanted.sort());
});

test('every row is played through our API, or says why it cannot be', () => {
  for (const play of plays(false)) {
    const isPlayed = programs[play.id] !== undefined;
    expect(isPlayed || play.why !== '', `${play.id} has a program or a reason`).toBe(true);
    expect(Object.keys(play.expected), `${play.id} expects something`).not.toEqual([]);
  }
});

test('there is no program without a row that uses it', () => {
  const used = new Set(plays(false).flatMap(({ id, why }) => (why === '' ? [id] : [])));
  expect(Object.keys(programs).filter((id) => !used.has(id))).toEqual([]);
});
