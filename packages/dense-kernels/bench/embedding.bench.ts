import { download, seededRandom, upload } from '@altstream/cuda-runtime/testing';
import { embedding } from '../src/index.js';
import { roundTo } from '../test/makers/round-to.js';
import { referenceEmbedding } from '../test/reference/embedding.js';
import { type BenchCase, runBench } from './run-bench.js';

const rows = 4096;
const hidden = 6144;
const sizes = [1, 32, 512, 4096];

const cases = sizes.map(
  (tokens): BenchCase => ({
    case: { tokens, hidden, dtype: 'bf16' },
    bytes: 2 * tokens * hidden * 2,
    prepare: async (stream) => {
      const random = seededRandom(1);
      const table = roundTo(random.floats(rows * hidden), 'bf16');
      const ids = Array.from({ length: tokens }, () => random.integer(-1, rows));
      const input = {
        table: upload(stream, table, [rows, hidden], 'bf16'),
        ids: upload(stream, ids, [tokens], 'i32'),
      };
      const out = stream.tensor([tokens, hidden], 'bf16');
      const expected = referenceEmbedding(table, hidden, ids);
      return {
        run: () => void embedding(input, { stream, out }),
        isRight: async () => {
          const y = (await download(stream, out)) as Float32Array;
          return y.every((value, i) => value === expected[i]);
        },
      };
    },
  }),
);

await runBench('embedding', cases);
