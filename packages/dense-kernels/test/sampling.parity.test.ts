import { describeEachBackend, download, poison } from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { loadDenseKernels, sample } from '../src/index.js';
import { type SamplingCase, samplingCases } from './cases/sampling.js';
import { freshSeed, seedNote } from './makers/fresh-seed.js';
import { rightIds } from './makers/right-ids.js';
import { differsFromEarlierLevel } from './makers/same-bits.js';
import { type HostRow, makeRows, uploadRows } from './makers/sampling.js';
import { logprobAbsolute } from './makers/tolerance.js';
import { referenceLogprob } from './reference/sampling.js';

describeEachBackend('sample', samplingCases, async ({ stream, runtime, device }, testCase) => {
  await loadDenseKernels(runtime);
  const { rows: count, vocab, gap } = testCase;
  const rows = rowsOf(testCase);
  const out = { ids: stream.tensor([count], 'i32'), logprobs: stream.tensor([count], 'f32') };
  for (const tensor of Object.values(out)) poison(stream, tensor);
  sample(uploadRows(stream, rows, vocab, gap), { stream, out });
  const ids = (await download(stream, out.ids)) as Int32Array;
  const logprobs = (await download(stream, out.logprobs)) as Float32Array;
  expect([ids.length, logprobs.length]).toEqual([count, count]);
  for (const [row, host] of rows.entries()) {
    const id = ids[row] ?? -1;
    expect(host.isRight(id), `id ${id} in row ${row}, ${seedNote}`).toBe(true);
    const error = (logprobs[row] ?? Number.NaN) - referenceLogprob(host.logits, id);
    const bound = logprobAbsolute + 2 ** -24 * Math.abs(logprobs[row] ?? 0);
    expect(Math.abs(error), `logprob of row ${row}, ${seedNote}`).toBeLessThanOrEqual(bound);
  }
  expect(differsFromEarlierLevel(testCase.name, device, ids, logprobs), seedNote).toBe('');
});

type ExpectedRow = HostRow & { isRight(id: number): boolean };
const made = new Map<SamplingCase, ExpectedRow[]>();

/**
 * Rows and what is right for them, once a case: the reference sorts, and every level is compared.
 */
function rowsOf(testCase: SamplingCase): ExpectedRow[] {
  let rows = made.get(testCase);
  if (!rows) {
    rows = makeRows(testCase, freshSeed).map((row) => ({ ...row, isRight: rightIds(row) }));
    made.set(testCase, rows);
  }
  return rows;
}
