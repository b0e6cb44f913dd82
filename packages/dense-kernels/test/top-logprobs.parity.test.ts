import {
  describeEachBackend,
  download,
  poison,
  seededRandom,
  upload,
} from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { loadDenseKernels, topLogprobs } from '../src/index.js';
import { type TopLogprobsCase, topLogprobsCases } from './cases/top-logprobs.js';
import { freshSeed, seedNote } from './makers/fresh-seed.js';
import { differsFromEarlierLevel } from './makers/same-bits.js';
import { logprobAbsolute } from './makers/tolerance.js';
import { referenceLogprob } from './reference/sampling.js';
import { referenceBestIds } from './reference/top-logprobs.js';

describeEachBackend('topLogprobs', topLogprobsCases, async (backend, testCase) => {
  const { stream, runtime, device } = backend;
  await loadDenseKernels(runtime);
  const { rows, vocab, count, gap = 0 } = testCase;
  const random = seededRandom(freshSeed);
  const host = Array.from({ length: rows }, () => makeLogits(testCase, random));
  const chosenIds = host.map(() => random.integer(0, vocab));
  const wide = new Float32Array(rows * (vocab + gap)).fill(Number.NaN);
  for (const [row, logits] of host.entries()) wide.set(logits, row * (vocab + gap));
  const out = {
    chosen: stream.tensor([rows], 'f32'),
    ids: stream.tensor([rows, count], 'i32'),
    logprobs: stream.tensor([rows, count], 'f32'),
  };
  for (const tensor of Object.values(out)) poison(stream, tensor);
  const logits = upload(stream, wide, [rows, vocab + gap], 'f32').slice(1, 0, vocab);
  const ids = upload(stream, chosenIds, [rows], 'i32');
  topLogprobs({ logits, ids, count }, { stream, out });
  const chosen = (await download(stream, out.chosen)) as Float32Array;
  const bestIds = (await download(stream, out.ids)) as Int32Array;
  const best = (await download(stream, out.logprobs)) as Float32Array;
  for (const [row, values] of host.entries()) {
    const wanted = referenceBestIds(values, count);
    const place = [row * count, (row + 1) * count] as const;
    expect([...bestIds.subarray(...place)], `row ${row}, ${seedNote}`).toEqual(wanted);
    const expected = wanted.map((id) => referenceLogprob(values, id));
    expectLogprobs(best.subarray(...place), expected);
    const [id = 0, value = Number.NaN] = [chosenIds[row], chosen[row]];
    expectLogprobs([value], [referenceLogprob(values, id)]);
  }
  expect(differsFromEarlierLevel(testCase.name, device, chosen, bestIds, best)).toBe('');
});

function expectLogprobs(actual: ArrayLike<number>, expected: readonly number[]): void {
  for (const [i, value] of expected.entries()) {
    const got = actual[i] ?? Number.NaN;
    if (got === value) continue; // -infinity among them
    const bound = logprobAbsolute + 2 ** -24 * Math.abs(value);
    expect(Math.abs(got - value), `${got} for ${value}, ${seedNote}`).toBeLessThanOrEqual(bound);
  }
}

function makeLogits(
  { vocab, logits: kind }: TopLogprobsCase,
  random: ReturnType<typeof seededRandom>,
): Float32Array {
  const logits = Float32Array.from({ length: vocab }, () => 3 * random.normal());
  if (kind === 'tied') return logits.map((value) => Math.round(value / 2));
  if (kind === 'ascending') return logits.sort();
  if (kind === 'sparse') {
    const impossible = [Number.NEGATIVE_INFINITY, Number.NaN];
    return logits.map((value, id) => (id % 5 < 2 ? (impossible[id % 2] ?? 0) : value));
  }
  return logits;
}

const odd = [{ name: 'padding rows and rows without a usable logit' }];
describeEachBackend('topLogprobs', odd, async ({ stream, runtime }) => {
  await loadDenseKernels(runtime);
  const bad = new Array<number>(8).fill(Number.NaN);
  const good = [1, 3, 3, 2, 0, 0, 0, 0];
  const logits = upload(stream, [...bad, ...bad, ...good, ...good], [4, 8], 'f32');
  const ids = upload(stream, [-1, 3, 8, 1], [4], 'i32');
  const result = topLogprobs({ logits, ids, count: 2 }, { stream });
  expect([...((await download(stream, result.ids)) as Int32Array)]).toEqual([
    -1, -1, 0, 1, -1, -1, 1, 2,
  ]);
  const chosen = (await download(stream, result.chosen)) as Float32Array;
  expect([...chosen.subarray(0, 3)]).toEqual([0, Number.NaN, 0]);
  const logprobs = (await download(stream, result.logprobs)) as Float32Array;
  expect([...logprobs.subarray(0, 6)]).toEqual([0, 0, Number.NaN, Number.NaN, 0, 0]);
  expect(chosen[3]).toBe(logprobs[6]);
  expect(logprobs[6]).toBe(logprobs[7]);
});
