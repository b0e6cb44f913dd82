import { type BenchCase, runBench } from '@altstream/bench';
import { download, expectClose, upload } from '@altstream/cuda-runtime/testing';
import { adjustLogits, loadDenseKernels, restoreLogits } from '../src/index.js';
import { makeAdjusted, uploadAdjusted } from '../test/makers/adjust-logits.js';

const vocab = 200_064;
const kinds = { none: [0], 'one of eight': [3, 0, 0, 0, 0, 0, 0, 0], all: [3] };

const cases = [1, 8, 64].flatMap((rows) =>
  Object.entries(kinds).map(([kind, flags]): BenchCase => {
    const changed = Array.from({ length: rows }, (_, row) => flags[row % flags.length] ?? 0);
    return {
      case: { rows, vocab, kind },
      // read, kept, and read and written again on the way back; and the counts
      bytes: changed.filter((flag) => flag !== 0).length * vocab * 5 * 4,
      prepare: async (stream) => {
        const testCase = { name: kind, rows, vocab, entries: 64, flags, seen: 0.001 };
        const host = makeAdjusted(testCase, 1);
        const input = uploadAdjusted(stream, host, testCase);
        const logprobs = stream.tensor([rows], 'f32');
        const ids = upload(stream, new Int32Array(rows), [rows], 'i32');
        return {
          run: () => {
            adjustLogits(input, { stream });
            restoreLogits({ ...input, ids, logprobs }, { stream });
          },
          check: async () => {
            const expected = host.flatMap(({ logits }) => Array.from(logits));
            expectClose((await download(stream, input.logits)) as Float32Array, expected);
          },
        };
      },
    };
  }),
);

const setting = { bench: 'adjust-logits', from: import.meta.url, load: loadDenseKernels };
await runBench(setting, cases);
