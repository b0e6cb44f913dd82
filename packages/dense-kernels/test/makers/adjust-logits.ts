import type { Stream } from '@altstream/cuda-runtime';
import { seededRandom, upload } from '@altstream/cuda-runtime/testing';
import type { AdjustLogitsInput } from '../../src/index.js';
import type { AdjustLogitsCase } from '../cases/adjust-logits.js';
import type { ReferenceChanges } from '../reference/adjust-logits.js';

/** One row of the batch, on the host. */
export interface HostAdjusted {
  readonly logits: Float32Array;
  readonly changes: ReferenceChanges;
}

const always = 2 ** 31 - 1;
const odd = [Number.NEGATIVE_INFINITY, Number.NaN, Number.POSITIVE_INFINITY];

/** Rows of a case; row 3 of four is padding where the case has as many. */
export function makeAdjusted(testCase: AdjustLogitsCase, seed: number): HostAdjusted[] {
  const { rows, vocab, flags, seen, isOdd } = testCase;
  const random = seededRandom(seed);
  return Array.from({ length: rows }, (_, row) => {
    const position = row % 8 === 7 ? -1 : random.integer(0, 100);
    const logits = Float32Array.from(random.floats(vocab, 1), (_value, id) =>
      isOdd && id % 2 === 1 ? (odd[id % 3] ?? 0) : 4 * random.normal(),
    );
    const counts = Int32Array.from({ length: vocab }, () =>
      random.uniform(0, 1) < seen ? random.integer(0, 9) : 0,
    );
    const changes = {
      flags: flags[row % flags.length] ?? 0,
      counts,
      repetition: random.uniform(0.1, 2),
      frequency: random.uniform(-2, 2),
      presence: random.uniform(-2, 2),
      entries: makeEntries(testCase, position, random),
      position,
    };
    return { logits, changes };
  });
}

/**
 * Distinct ids with a bias; some of them, and others, are removed for a while; some places are
 * empty.
 */
function makeEntries(
  { vocab, entries }: AdjustLogitsCase,
  position: number,
  random: ReturnType<typeof seededRandom>,
): ReferenceChanges['entries'] {
  const biased = new Set<number>();
  return Array.from({ length: entries }, (_, place) => {
    const id = random.integer(0, vocab);
    const until = [always, position + 1, position][random.integer(0, 3)] ?? 0;
    if (place % 4 === 0) return { id: place % 8 === 0 ? -1 : vocab + place, value: 7, until };
    if (place % 4 === 1 || biased.has(id)) return { id, value: Number.NEGATIVE_INFINITY, until };
    biased.add(id);
    return { id, value: random.uniform(-100, 100), until };
  });
}

/** The rows on the device; `gap` elements of NaN between rows of logits. */
export function uploadAdjusted(
  stream: Stream,
  rows: readonly HostAdjusted[],
  { vocab, entries, gap = 0 }: AdjustLogitsCase,
): AdjustLogitsInput {
  const count = rows.length;
  const wide = new Float32Array(count * (vocab + gap)).fill(Number.NaN);
  for (const [row, { logits }] of rows.entries()) wide.set(logits, row * (vocab + gap));
  const all = rows.map(({ changes }) => changes);
  const column = (pick: (changes: ReferenceChanges) => number, dtype: 'f32' | 'i32') =>
    upload(stream, all.map(pick), [count], dtype);
  const list = (
    pick: (entry: ReferenceChanges['entries'][number]) => number,
    dtype: 'f32' | 'i32',
  ) =>
    upload(
      stream,
      all.flatMap((changes) => changes.entries.map(pick)),
      [count, entries],
      dtype,
    );
  const counts = new Int32Array(count * vocab);
  for (const [row, changes] of all.entries()) counts.set(Array.from(changes.counts), row * vocab);
  return {
    logits: upload(stream, wide, [count, vocab + gap], 'f32').slice(1, 0, vocab),
    raw: stream.tensor([count, vocab], 'f32'),
    flags: column(({ flags }) => flags, 'i32'),
    counts: upload(stream, counts, [count, vocab], 'i32'),
    repetition: column(({ repetition }) => repetition, 'f32'),
    frequency: column(({ frequency }) => frequency, 'f32'),
    presence: column(({ presence }) => presence, 'f32'),
    positions: column(({ position }) => position, 'i32'),
    entryIds: list(({ id }) => id, 'i32'),
    entryValues: list(({ value }) => value, 'f32'),
    entryUntil: list(({ until }) => until, 'i32'),
  };
}
