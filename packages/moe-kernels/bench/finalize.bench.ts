import { type BenchCase, readCeiling, runBench } from '@altstream/bench';
import {
  download,
  expectClose,
  roundBf16,
  seededRandom,
  upload,
} from '@altstream/cuda-runtime/testing';
import { finalize, loadMoeKernels } from '../src/index.js';
import { referenceFinalize } from '../test/reference/finalize.js';

const [k, hidden] = [4, 6144];

function makeCase(tokens: number): BenchCase {
  return {
    case: { dtype: 'bf16', tokens, k, hidden },
    bytes: tokens * (k + 1) * hidden * 2,
    prepare: async (stream) => {
      const random = seededRandom(tokens);
      const expertOut = random.floats(tokens * k * hidden).map(roundBf16);
      const weights = Float32Array.from({ length: tokens * k }, () => random.uniform(0, 1));
      const slots = Array.from({ length: tokens * k }, (_, i) => tokens * k - 1 - i);
      const out = stream.tensor([tokens, hidden], 'bf16');
      const input = {
        expertOut: upload(stream, expertOut, [tokens * k, hidden], 'bf16'),
        slots: upload(stream, slots, [tokens, k], 'i32'),
        weights: upload(stream, weights, [tokens, k], 'f32'),
      };
      return {
        run: () => void finalize(input, { stream, out }),
        check: async () => {
          const values = (await download(stream, out)) as Float32Array;
          const data = { expertOut, slots, weights, k, hidden, scale: 1 };
          expectClose(values, referenceFinalize(data, roundBf16));
        },
      };
    },
  };
}

const setting = {
  bench: 'finalize',
  from: import.meta.url,
  load: loadMoeKernels,
  ceiling: readCeiling,
};
await runBench(setting, [1, 16, 256].map(makeCase));
