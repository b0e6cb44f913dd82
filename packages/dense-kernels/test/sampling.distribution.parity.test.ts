// Draws many ids and compares their frequencies with the exact distribution. Seeds are fixed, so
// the outcome is too; the bound would fail one right implementation in 10^6.
import { describeEachBackend, download, seededRandom } from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { loadDenseKernels, sample } from '../src/index.js';
import { type HostRow, uploadRows } from './makers/sampling.js';
import { referencePhilox } from './reference/philox.js';
import { type ReferenceSettings, referenceDistribution } from './reference/sampling.js';

const draws = 40_000;
const vocab = 24;
const plain: ReferenceSettings = { temperature: 1, topK: 0, topP: 1, minP: 0 };
const cases = [
  { name: 'frequencies, positions of one seed', settings: plain, by: 'position' },
  { name: 'frequencies, seeds at one position', settings: plain, by: 'seed' },
  { name: 'frequencies, hot', settings: { ...plain, temperature: 2 }, by: 'position' },
  { name: 'frequencies, top-k', settings: { ...plain, topK: 7 }, by: 'position' },
  { name: 'frequencies, top-p', settings: { ...plain, topP: 0.85 }, by: 'seed' },
  { name: 'frequencies, min-p', settings: { ...plain, minP: 0.1 }, by: 'position' },
  {
    name: 'frequencies, all filters',
    settings: { temperature: 1.3, topK: 12, topP: 0.9, minP: 0.05 },
    by: 'seed',
  },
] as const;

describeEachBackend('sample', cases, async ({ stream, runtime }, { settings, by }) => {
  await loadDenseKernels(runtime);
  const random = seededRandom(42);
  const logits = Float32Array.from({ length: vocab }, () => 1.5 * random.normal());
  const rows: HostRow[] = Array.from({ length: draws }, (_, i) =>
    by === 'seed'
      ? { logits, settings, seed: BigInt(i), position: 17 }
      : { logits, settings, seed: 123_456_789_012n, position: i },
  );
  const { ids } = sample(uploadRows(stream, rows, vocab), { stream });
  const counts = new Array<number>(vocab).fill(0);
  for (const id of (await download(stream, ids)) as Int32Array) counts[id] = (counts[id] ?? 0) + 1;

  const probabilities = referenceDistribution(logits, settings);
  let chiSquare = 0;
  let freedom = -1;
  for (const [id, probability] of probabilities.entries()) {
    const count = counts[id] ?? 0;
    if (probability === 0) {
      expect(count, `id ${id} is filtered out`).toBe(0);
      continue;
    }
    freedom += 1;
    chiSquare += (count - draws * probability) ** 2 / (draws * probability);
  }
  expect(chiSquare).toBeLessThan(chiSquareBound(freedom));
});

/** Quantile 1 - 10^-6 by Wilson and Hilferty's cube; 4.753 is that of the normal distribution. */
function chiSquareBound(freedom: number): number {
  const spread = 2 / (9 * freedom);
  return freedom * (1 - spread + 4.753 * Math.sqrt(spread)) ** 3;
}

// With equal logits the id is floor(unit * vocab): the kernel's generator against Random123's
// vectors.
describeEachBackend('sample', [{ name: 'numbers of Random123' }], async ({ stream, runtime }) => {
  await loadDenseKernels(runtime);
  const many = 200_000;
  const logits = new Float32Array(many);
  const keys = [0n, -1n, 0x299f_31d0_a409_3822n, 1n << 63n];
  const rows = keys.flatMap((seed) =>
    [0, 1, 2 ** 31 - 1].map((position) => ({ logits, settings: plain, seed, position })),
  );
  const { ids } = sample(uploadRows(stream, rows, many), { stream });
  const drawn = (await download(stream, ids)) as Int32Array;
  expect(drawn[0]).toBe(Math.floor((0x6627_e8d5 / 2 ** 32) * many));
  expect([...drawn]).toEqual(
    rows.map(({ seed, position }) => {
      const [first = 0, second = 0] = referencePhilox([position, 0, 0, 0], seed);
      return Math.floor(((first + second / 2 ** 32) / 2 ** 32) * many);
    }),
  );
});
