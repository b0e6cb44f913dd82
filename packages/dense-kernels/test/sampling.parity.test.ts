import { describeEachBackend, download, poison } from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { loadDenseKernels, sample } from '../src/index.js';
import { samplingCases } from './cases/sampling.js';
import { freshSeed, seedNote } from './makers/fresh-seed.js';
import { differsFromEarlierLevel } from './makers/same-bits.js';
import { type HostRow, makeRows, uploadRows } from './makers/sampling.js';
import { cdfShift, logprobAbsolute } from './makers/tolerance.js';
import { referenceUnit } from './reference/philox.js';
import { referenceDistribution, referenceDraw, referenceLogprob } from './reference/sampling.js';

describeEachBackend('sample', samplingCases, async ({ stream, runtime, device }, testCase) => {
  await loadDenseKernels(runtime);
  const { rows: count, vocab, gap } = testCase;
  const rows = makeRows(testCase, freshSeed);
  const out = { ids: stream.tensor([count], 'i32'), logprobs: stream.tensor([count], 'f32') };
  for (const tensor of Object.values(out)) poison(stream, tensor);
  sample(uploadRows(stream, rows, vocab, gap), { stream, out });
  const ids = (await download(stream, out.ids)) as Int32Array;
  const logprobs = (await download(stream, out.logprobs)) as Float32Array;
  expect([ids.length, logprobs.length]).toEqual([count, count]);
  for (const [row, host] of rows.entries()) {
    const id = ids[row] ?? -1;
    const allowed = allowedIds(host);
    expect(allowed, `row ${row}, ${seedNote}`).toContain(id);
    const error = (logprobs[row] ?? Number.NaN) - referenceLogprob(host.logits, id);
    const bound = logprobAbsolute + 2 ** -24 * Math.abs(logprobs[row] ?? 0);
    expect(Math.abs(error), `logprob of row ${row}, ${seedNote}`).toBeLessThanOrEqual(bound);
  }
  expect(differsFromEarlierLevel(testCase.name, device, ids, logprobs), seedNote).toBe('');
});

// The id of the reference. Where the random number or top-p lies within `cdfShift` of a border, the
// id on its other side is right too; such rows are rare and have two neighbours at most.
function allowedIds({ logits, settings, seed, position }: HostRow): number[] {
  const unit = referenceUnit(seed, position);
  const topPs = settings.topP < 1 ? [-cdfShift, 0, cdfShift] : [0];
  const ids = topPs.flatMap((shift) => {
    const probabilities = referenceDistribution(logits, {
      ...settings,
      topP: settings.topP + shift,
    });
    return [-cdfShift, 0, cdfShift].map((move) => referenceDraw(probabilities, unit + move));
  });
  return [...new Set(ids)];
}
