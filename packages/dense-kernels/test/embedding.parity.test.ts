import {
  describeEachBackend,
  download,
  expectClose,
  poison,
  seededRandom,
  upload,
} from '@altstream/cuda-runtime/testing';
import { embedding, loadDenseKernels } from '../src/index.js';
import { embeddingCases } from './cases/embedding.js';
import { freshSeed, seedNote } from './makers/fresh-seed.js';
import { roundTo } from './makers/round-to.js';
import { referenceEmbedding } from './reference/embedding.js';

describeEachBackend('embedding', embeddingCases, async ({ stream, runtime }, testCase) => {
  await loadDenseKernels(runtime);
  const { rows, hidden, tokens, tableDType, outDType, gap = 0, firstId = 0 } = testCase;
  const random = seededRandom(freshSeed);
  const columns = hidden + gap;
  const wide = roundTo(random.floats(rows * columns, 1), tableDType);
  const table = wide.filter((_, i) => i % columns < hidden);
  // every fourth id is outside the table: zeros, and nothing read there
  const last = 2 ** 31 - 1;
  const below = firstId - 1;
  const outside = [below, Math.min(firstId + rows, last), firstId ? 0 : last, -(2 ** 31)];
  const ids = Array.from({ length: tokens }, (_, i) =>
    i % 4 === 3 ? (outside[(i >> 2) % 4] ?? -1) : firstId + random.integer(0, rows),
  );
  const out = stream.tensor([tokens, hidden], outDType);
  poison(stream, out);
  embedding(
    {
      table: upload(stream, wide, [rows, columns], tableDType).slice(1, 0, hidden),
      ids: upload(stream, Int32Array.from(ids), [tokens], 'i32'),
      firstId,
    },
    { stream, outDType, out },
  );
  const expected = roundTo(referenceEmbedding(table, hidden, ids, firstId), outDType);
  const y = (await download(stream, out)) as Float32Array;
  expectClose(y, expected, { message: seedNote });
});
