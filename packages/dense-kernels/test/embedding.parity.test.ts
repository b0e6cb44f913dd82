import {
  describeEachBackend,
  download,
  downloadRaw,
  expectClose,
  poison,
  seededRandom,
  upload,
} from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { embedding, loadDenseKernels } from '../src/index.js';
import { embeddingCases } from './cases/embedding.js';
import { freshSeed, seedNote } from './makers/fresh-seed.js';
import { roundTo } from './makers/round-to.js';
import { differsFromEarlierLevel } from './makers/same-bits.js';
import { referenceEmbedding } from './reference/embedding.js';

// NaN with a payload that a narrowing drops, infinities, −0, subnormals, ties, overflow
const specialBits = [
  0x7f800001, 0xffffffff, 0x7fc12345, 0x7f800000, 0xff800000, 0x80000000, 0x00000001, 0x80007fff,
  0x00008000, 0x3f808000, 0x3f818000, 0x3f808001, 0x7f7fffff, 0xff7fffff, 0x7f7f7fff,
];
const specials = new Float32Array(Uint32Array.from(specialBits).buffer);

describeEachBackend('embedding', embeddingCases, async ({ device, stream, runtime }, testCase) => {
  await loadDenseKernels(runtime);
  const { rows, hidden, tokens, tableDType, outDType, gap = 0, start = 0, firstId = 0 } = testCase;
  const random = seededRandom(freshSeed);
  const columns = hidden + gap;
  const values = random.floats(rows * columns, 1).map((value, i) => {
    return i % 7 === 0 ? (specials[(i / 7) % specials.length] ?? value) : value;
  });
  const wide = roundTo(values, tableDType);
  const table = wide.filter((_, i) => {
    return i % columns >= start && i % columns < start + hidden;
  });
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
      table: upload(stream, values, [rows, columns], tableDType).slice(1, start, start + hidden),
      ids: upload(stream, Int32Array.from(ids), [tokens], 'i32'),
      firstId,
    },
    { stream, outDType, out },
  );
  const expected = roundTo(referenceEmbedding(table, hidden, ids, firstId), outDType);
  const y = (await download(stream, out)) as Float32Array;
  expectClose(y, expected, { message: seedNote });
  const raw = await downloadRaw(stream, out);
  expect(differsFromEarlierLevel(testCase.name, device, raw), seedNote).toBe('');
});
