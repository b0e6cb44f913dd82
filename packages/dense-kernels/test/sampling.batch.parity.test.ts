// Whole vocabularies of MiniMax-M3 and of a rank of four, every kind of row in one batch; and rows
// of equal logits, whose ids are known exactly.
import { describeEachBackend, download } from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { loadDenseKernels, sample } from '../src/index.js';
import { freshSeed, seedNote } from './makers/fresh-seed.js';
import { rightIds } from './makers/right-ids.js';
import { type HostRow, makeRows, uploadRows } from './makers/sampling.js';
import { referenceUnit } from './reference/philox.js';
import type { ReferenceSettings } from './reference/sampling.js';

const off: ReferenceSettings = { temperature: 1, topK: 0, topP: 1, minP: 0 };
const kinds: readonly ReferenceSettings[] = [
  { temperature: 0.8, topK: 40, topP: 0.95, minP: 0.05 },
  { ...off, temperature: 0 },
  { ...off, topP: 0.9 },
  off,
  { ...off, topK: 40 },
  { ...off, minP: 0.05 },
  { ...off, topK: 1 },
  { ...off, topP: 1e-6 },
];

const batches = [200_064, 50_016].flatMap((vocab) =>
  [1, 3, 64].map((rows) => ({ name: `${rows} mixed rows of ${vocab} ids`, rows, vocab })),
);

describeEachBackend('sample', batches, async ({ stream, runtime }, { rows: count, vocab }) => {
  await loadDenseKernels(runtime);
  const { distinct, right } = mixedRows(vocab);
  const rows = Array.from({ length: count }, (_, i) => distinct[i % distinct.length] ?? none);
  const { ids, logprobs } = sample(uploadRows(stream, rows, vocab, 1), { stream });
  const drawn = (await download(stream, ids)) as Int32Array;
  const values = (await download(stream, logprobs)) as Float32Array;
  for (const [i, id] of drawn.entries()) {
    const first = i % distinct.length;
    expect(right[first]?.(id), `id ${id} in row ${i}, ${seedNote}`).toBe(true);
    expect([id, values[i]], `row ${i} as row ${first}`).toEqual([drawn[first], values[first]]);
  }
});

const none: HostRow = { logits: new Float32Array(1), settings: off, seed: 0n, position: -1 };
const made = new Map<number, { distinct: HostRow[]; right: ((id: number) => boolean)[] }>();

/**
 * A row of each kind, and rows without a usable logit, with one in the last part, and of padding.
 */
function mixedRows(vocab: number) {
  let mixed = made.get(vocab);
  if (mixed) return mixed;
  const shape = { name: '', rows: kinds.length, vocab, settings: off };
  const distinct = makeRows(shape, freshSeed).map((row, i) => ({
    ...row,
    settings: kinds[i] ?? off,
  }));
  const right = distinct.map(rightIds);
  const only = (expected: number) => (id: number) => id === expected;
  const impossible = new Float32Array(vocab).fill(Number.NEGATIVE_INFINITY);
  const settings = kinds[0] ?? off;
  distinct.push(
    {
      logits: impossible.map((_, i) => (i % 2 ? Number.NaN : (impossible[i] ?? 0))),
      settings,
      seed: 1n,
      position: 1,
    },
    { logits: impossible.with(vocab - 1, -5), settings, seed: 1n, position: 1 },
    { logits: impossible, settings, seed: 1n, position: -1 },
  );
  right.push(only(0), only(vocab - 1), only(-1));
  mixed = { distinct, right };
  made.set(vocab, mixed);
  return mixed;
}

// With equal logits top-k and top-p keep the lowest ids, and the draw is a share of them.
const equals = [
  {
    name: 'equal logits, top-k behind a part',
    vocab: 5000,
    settings: { ...off, topK: 2050 },
    kept: 2050,
  },
  { name: 'equal logits, top-k 2048', vocab: 5000, settings: { ...off, topK: 2048 }, kept: 2048 },
  {
    name: 'equal logits, top-k of many',
    vocab: 50_016,
    settings: { ...off, topK: 9999 },
    kept: 9999,
  },
  { name: 'equal logits, top-k 1', vocab: 50_016, settings: { ...off, topK: 1 }, kept: 1 },
  { name: 'equal logits, top-p', vocab: 50_016, settings: { ...off, topP: 0.25 }, kept: 12_504 },
  { name: 'equal logits, tiny top-p', vocab: 50_016, settings: { ...off, topP: 1e-30 }, kept: 1 },
  {
    name: 'equal logits, all filters',
    vocab: 200_064,
    settings: { temperature: 0.5, topK: 20_000, topP: 0.5, minP: 0.9 },
    kept: 10_000,
  },
];

describeEachBackend('sample', equals, async ({ stream, runtime }, testCase) => {
  await loadDenseKernels(runtime);
  const { vocab, settings, kept } = testCase;
  const logits = new Float32Array(vocab).fill(-1.25);
  const rows = [0, 1, 2].map((position) => ({
    logits,
    settings,
    seed: BigInt(freshSeed),
    position,
  }));
  const { ids } = sample(uploadRows(stream, rows, vocab), { stream });
  expect([...((await download(stream, ids)) as Int32Array)], seedNote).toEqual(
    rows.map(({ seed, position }) => Math.floor(referenceUnit(seed, position) * kept)),
  );
});
