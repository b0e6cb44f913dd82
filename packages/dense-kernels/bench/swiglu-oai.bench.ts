import { type BenchCase, runBench } from '@altstream/bench';
import { download, expectClose, seededRandom, upload } from '@altstream/cuda-runtime/testing';
import { loadDenseKernels, swigluOai } from '../src/index.js';
import { roundTo } from '../test/makers/round-to.js';
import { roundingOf } from '../test/makers/tolerance.js';
import { referenceSwigluOai } from '../test/reference/swiglu-oai.js';

const constants = { alpha: Math.fround(1.702), beta: 1, limit: 7 };
const sizes = [
  { tokens: 1, intermediate: 3072 },
  { tokens: 1, intermediate: 12_288 },
  { tokens: 32, intermediate: 3072 },
  { tokens: 512, intermediate: 3072 },
];

const cases = sizes.flatMap((size) =>
  (['bf16', 'f32'] as const).map((dtype) => makeCase({ ...size, dtype })),
);

function makeCase(values: {
  tokens: number;
  intermediate: number;
  dtype: 'bf16' | 'f32';
}): BenchCase {
  const { tokens, intermediate, dtype } = values;
  const count = tokens * intermediate;
  return {
    case: values,
    bytes: 3 * count * (dtype === 'bf16' ? 2 : 4),
    prepare: async (stream) => {
      const values = roundTo(seededRandom(1).floats(2 * count, 3), dtype);
      const gateUp = upload(stream, values, [tokens, 2 * intermediate], dtype);
      const out = stream.tensor([tokens, intermediate], dtype);
      const relative = 4e-6 + roundingOf(dtype); // |alpha * gate| stays below 30 here
      return {
        run: () => void swigluOai({ gateUp }, { stream, out }),
        check: async () => {
          const actual = (await download(stream, out)) as Float32Array;
          const expected = Array.from({ length: count }, (_, i) => {
            const gate = Math.floor(i / intermediate) * 2 * intermediate + (i % intermediate);
            const [g = 0, u = 0] = [values[gate], values[gate + intermediate]];
            return referenceSwigluOai(g, u, constants);
          });
          expectClose(actual, expected, { relative, absolute: 2 ** -133 });
        },
      };
    },
  };
}

const setting = { bench: 'swiglu-oai', from: import.meta.url, load: loadDenseKernels };
await runBench(setting, cases);
