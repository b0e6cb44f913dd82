import { seededRandom } from '@altstream/cuda-runtime/testing';
import { describe, expect, it } from 'vitest';
import { drawnLogprobs, logprobTolerance } from '../../test/makers/drawn-distribution.js';
import { type ProcessedRow, processedLogprobs } from './processed-logprobs.js';

type Random = ReturnType<typeof seededRandom>;

const off = { temperature: 1, topK: 0, topP: 1, minP: 0, count: 0 };
const { POSITIVE_INFINITY: infinity, NEGATIVE_INFINITY: none, NaN: notANumber } = Number;

/** Rows of logits of every kind, by the number of ids. */
const rows: Record<string, (random: Random, vocab: number) => Float32Array> = {
  'spread out': (random, vocab) => fill(vocab, () => random.normal() * 3),
  peaked: (random, vocab) => fill(vocab, () => random.normal() ** 3 * 4),
  'of few values, so with ties': (random, vocab) => fill(vocab, () => random.integer(-2, 3)),
  'all equal': (_, vocab) => fill(vocab, () => -7),
  ascending: (_, vocab) => fill(vocab, (id) => id * 0.01),
  descending: (_, vocab) => fill(vocab, (id) => -id * 0.01),
  'with impossible ids': (random, vocab) =>
    fill(vocab, () => [none, notANumber, random.normal()][random.integer(0, 3)] ?? 0),
  'with infinite ones': (random, vocab) =>
    fill(
      vocab,
      () => [infinity, 3.4028234663852886e38, random.normal()][random.integer(0, 3)] ?? 0,
    ),
  'with one survivor': (random, vocab) => fill(vocab, () => none).fill(2, random.integer(0, vocab)),
};

function fill(vocab: number, make: (id: number) => number): Float32Array {
  return Float32Array.from({ length: vocab }, (_, id) => make(id));
}

function pick<T>(random: Random, values: readonly T[]): T {
  return values[random.integer(0, values.length)] as T;
}

/** A 32-bit word for each 32 ids. */
function maskOf(allowed: readonly number[], vocab: number): Int32Array {
  const mask = new Int32Array(Math.ceil(vocab / 32));
  for (const id of allowed) mask[id >> 5] = (mask[id >> 5] ?? 0) | (1 << (id & 31));
  return mask;
}

/** Compares every id, and the order of the list. */
function check(
  logits: Float32Array,
  settings: Omit<ProcessedRow, 'mask' | 'id' | 'count'>,
  allowed?: number[],
) {
  const expected = drawnLogprobs(logits, { ...settings, allowed });
  const mask = allowed && maskOf(allowed, logits.length);
  const id = Math.max(
    0,
    expected.findLastIndex((value) => value > none),
  );
  const before = logits.slice();
  const row = { ...settings, mask, id, count: logits.length };
  const { logprob, top } = processedLogprobs(logits, row);
  const what = JSON.stringify({ settings, allowed, logits: [...logits.subarray(0, 300)] });
  expect(logits, what).toEqual(before);
  expect(top.map((one) => one.id).sort((a, b) => a - b)).toEqual([...logits.keys()]);
  for (const one of [{ id, logprob }, ...top]) {
    const right = expected[one.id] ?? 0;
    if (Number.isFinite(right)) {
      expect(Math.abs(one.logprob - right), what).toBeLessThanOrEqual(logprobTolerance(right));
    } else expect(one.logprob, what).toBe(right);
  }
  top.slice(1).forEach(({ id: after }, place) => {
    const before = top[place]?.id ?? 0;
    expect(isBefore(before, after, { logits, expected }), what).toBe(true);
  });
}

/** Likelier, or a larger logit, or the lower id; ids that are impossible have no order here. */
function isBefore(
  a: number,
  b: number,
  { logits, expected }: { logits: Float32Array; expected: readonly number[] },
): boolean {
  const [likelier = 0, likely = 0] = [expected[a], expected[b]];
  if (likelier !== likely) return !(likelier < likely);
  const largest = 3.4028234663852886e38;
  const [first = 0, second = 0] = [logits[a], logits[b]].map((x = 0) => Math.min(x, largest));
  return likely === none || Number.isNaN(likely) || first > second || (first === second && a < b);
}

describe('the log-probabilities of what a token was drawn from', () => {
  it.each(Object.keys(rows))('are those of a whole sort in double: rows %s', (kind) => {
    const random = seededRandom(kind.length);
    for (let round = 0; round < 300; round += 1) {
      const vocab = pick(random, [1, 2, 3, 31, 32, 33, 64, 257]);
      const logits = rows[kind]?.(random, vocab) ?? new Float32Array();
      const settings = {
        temperature: pick(random, [0, 1e-30, 1e-3, 0.3, 0.7, 1, 1, 1.7, 100]),
        topK: pick(random, [0, 0, 1, 2, 7, 40, vocab, vocab + 1]),
        topP: pick(random, [1, 1, 1e-30, 1e-6, 0.1, 0.5, 0.9, 0.99]),
        minP: pick(random, [0, 0, 1e-6, 0.02, 0.5, 1]),
      };
      const some = [...logits.keys()].filter(() => random.integer(0, 3) > 0);
      check(logits, settings, random.integer(0, 2) ? some : undefined);
    }
  });

  it('add up to one over what is left', () => {
    const random = seededRandom(5);
    const logits = rows['spread out']?.(random, 5000) ?? new Float32Array();
    for (const more of [{}, { topK: 40 }, { topP: 0.8 }, { minP: 0.1 }, { temperature: 0 }]) {
      const row = { ...off, ...more, id: 0, count: 5000 };
      const { top } = processedLogprobs(logits, row);
      const sum = top.reduce((all, { logprob }) => all + Math.exp(logprob), 0);
      expect(sum).toBeCloseTo(1, 5);
    }
  });

  it.each(['spread out', 'all equal', 'ascending', 'descending'])(
    'are right over a whole vocabulary: rows %s',
    (kind) => {
      const logits = rows[kind]?.(seededRandom(11), 200_064) ?? new Float32Array();
      for (const more of [{ topK: 1000, topP: 0.9 }, { topP: 0.7 }]) {
        const settings = { ...off, temperature: 0.9, ...more };
        const expected = drawnLogprobs(logits, settings);
        const order = [...expected.keys()].sort((a, b) => {
          const [first = 0, second = 0] = [expected[a], expected[b]];
          return first === second ? a - b : second > first ? 1 : -1;
        });
        const id = order[30] ?? 0;
        const { logprob, top } = processedLogprobs(logits, { ...settings, id, count: 20 });
        expect(top.map((one) => one.id)).toEqual(order.slice(0, 20));
        for (const one of [{ id, logprob }, ...top]) {
          expect(one.logprob).toBeCloseTo(expected[one.id] ?? 0, 5);
        }
      }
    },
  );

  it('give the drawn id and all before it a share where the device ended later', () => {
    const logits = new Float32Array(10);
    const { logprob, top } = processedLogprobs(logits, { ...off, topP: 0.5, id: 5, count: 8 });
    const share = Math.fround(-Math.log(6));
    expect(logprob).toBe(share);
    expect(top.map((one) => [one.id, one.logprob])).toEqual([
      ...[0, 1, 2, 3, 4, 5].map((id) => [id, share]),
      [6, none],
      [7, none],
    ]);
  });

  it('fill the list with removed ids, the lowest first', () => {
    const logits = Float32Array.of(1, 5, 3, 4, 0);
    const { top } = processedLogprobs(logits, { ...off, topK: 2, id: 1, count: 4 });
    expect(top.map(({ id }) => id)).toEqual([1, 3, 0, 2]);
    expect(top.slice(2).map(({ logprob }) => logprob)).toEqual([none, none]);
  });

  it('keep the ids that are too unlikely to be drawn, unless a filter removes them', () => {
    const logits = Float32Array.of(0, -300);
    const row = { ...off, id: 0, count: 2 };
    expect(processedLogprobs(logits, row).top[1]).toEqual({ id: 1, logprob: -300 });
    expect(processedLogprobs(logits, { ...row, topP: 0.999 }).top[1]?.logprob).toBe(none);
  });

  it('are no numbers where there is nothing to draw from', () => {
    const row = { ...off, id: 0, count: 2 };
    const nothing = { logprob: notANumber, top: [0, 1].map((id) => ({ id, logprob: notANumber })) };
    expect(processedLogprobs(Float32Array.of(none, notANumber, none), row)).toEqual(nothing);
    const mask = new Int32Array(1);
    expect(processedLogprobs(Float32Array.of(1, 2), { ...row, mask })).toEqual(nothing);
  });
});
