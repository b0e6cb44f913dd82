import { describeEachBackend, download } from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { loadDenseKernels, sample } from '../src/index.js';
import { samplingCases } from './cases/sampling.js';
import { freshSeed, seedNote } from './makers/fresh-seed.js';
import { type HostRow, makeRows, uploadRows } from './makers/sampling.js';

const vocab = 333;
const row: HostRow = {
  logits: new Float32Array(vocab),
  settings: { temperature: 1, topK: 0, topP: 1, minP: 0 },
  seed: 7n,
  position: 0,
};

describeEachBackend('sample', [{ name: 'rows alone' }], async ({ stream, runtime }) => {
  await loadDenseKernels(runtime);
  const draw = async (rows: readonly HostRow[]) => {
    const { ids, logprobs } = sample(uploadRows(stream, rows, vocab), { stream });
    const [drawn, values] = [await download(stream, ids), await download(stream, logprobs)];
    return Array.from(drawn as Int32Array, (id, i) => [id, (values as Float32Array)[i]]);
  };
  // rows of every kind of settings in one batch, many more than there are threads
  const kinds = samplingCases.filter(({ rows }) => rows > 0).map(({ settings }) => settings);
  const rows = makeRows({ name: '', rows: 90, vocab, settings: row.settings }, freshSeed).map(
    (host, i) => ({ ...host, settings: kinds[i % kinds.length] ?? row.settings }),
  );
  const together = await draw(rows);
  const reversed = (await draw(rows.toReversed())).toReversed();
  expect(reversed, `other order, ${seedNote}`).toEqual(together);
  for (const [i, host] of rows.entries()) {
    expect(await draw([host]), `row ${i} alone, ${seedNote}`).toEqual([together[i]]);
  }
  expect(await draw(rows), 'again').toEqual(together);
});

describeEachBackend('sample', [{ name: 'padding rows' }], async ({ stream, runtime }) => {
  await loadDenseKernels(runtime);
  const garbage = { ...row, logits: row.logits.map(() => Number.NaN) };
  const rows = [{ ...garbage, position: -1 }, row, { ...row, position: -7 }];
  const { ids, logprobs } = sample(uploadRows(stream, rows, vocab), { stream });
  const drawn = [...((await download(stream, ids)) as Int32Array)];
  expect([drawn[0], drawn[2]]).toEqual([-1, -1]);
  expect(drawn[1]).toBeGreaterThanOrEqual(0);
  const values = [...((await download(stream, logprobs)) as Float32Array)];
  expect([values[0], values[2]]).toEqual([0, 0]);
  expect(values[1]).toBeCloseTo(-Math.log(vocab), 5);
});

describeEachBackend('sample', [{ name: 'rows without a usable logit' }], async (backend) => {
  const { stream, runtime } = backend;
  await loadDenseKernels(runtime);
  const impossible = [Number.NaN, Number.NEGATIVE_INFINITY];
  const logits = row.logits.map((_, id) => impossible[id % 2] ?? 0);
  const infinite = logits.with(100, Number.POSITIVE_INFINITY).with(50, 3);
  const cold = { ...row.settings, temperature: 0 };
  const rows = [
    { ...row, logits },
    { ...row, logits, settings: cold },
    { ...row, logits: infinite },
    { ...row, logits: infinite, settings: cold },
  ];
  const { ids, logprobs } = sample(uploadRows(stream, rows, vocab), { stream });
  expect([...((await download(stream, ids)) as Int32Array)]).toEqual([0, 0, 100, 100]);
  expect([...((await download(stream, logprobs)) as Float32Array)]).toEqual([
    Number.NaN,
    Number.NaN,
    0,
    0,
  ]);
});
