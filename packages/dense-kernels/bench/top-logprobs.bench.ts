import { type BenchCase, runBench } from '@altstream/bench';
import { download, expectClose, seededRandom, upload } from '@altstream/cuda-runtime/testing';
import { loadDenseKernels, topLogprobs } from '../src/index.js';
import { referenceBestIds } from '../test/reference/top-logprobs.js';

const vocab = 200_064;

const cases = [1, 16].flatMap((rows) =>
  [0, 20].map(
    (count): BenchCase => ({
      case: { rows, vocab, count },
      bytes: rows * vocab * 4,
      prepare: async (stream) => {
        const values = seededRandom(1).floats(rows * vocab, 3);
        const logits = upload(stream, values, [rows, vocab], 'f32');
        const ids = upload(stream, new Int32Array(rows), [rows], 'i32');
        const out = {
          chosen: stream.tensor([rows], 'f32'),
          ids: stream.tensor([rows, count], 'i32'),
          logprobs: stream.tensor([rows, count], 'f32'),
        };
        const expected = Array.from({ length: rows }, (_, row) =>
          referenceBestIds(values.subarray(row * vocab, (row + 1) * vocab), count),
        ).flat();
        return {
          run: () => void topLogprobs({ logits, ids, count }, { stream, out }),
          check: async () => expectClose((await download(stream, out.ids)) as Int32Array, expected),
        };
      },
    }),
  ),
);

const setting = { bench: 'top-logprobs', from: import.meta.url, load: loadDenseKernels };
await runBench(setting, cases);
