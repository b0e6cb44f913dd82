import { download, seededRandom, upload } from '@altstream/cuda-runtime/testing';
import { swigluOai } from '../src/index.js';
import { roundTo } from '../test/makers/round-to.js';
import { roundingOf } from '../test/makers/tolerance.js';
import { referenceSwigluOai } from '../test/reference/swiglu-oai.js';
import { type BenchCase, runBench } from './run-bench.js';

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
        isRight: async () => {
          const y = (await download(stream, out)) as Float32Array;
          return y.every((value, i) => {
            const gate = Math.floor(i / intermediate) * 2 * intermediate + (i % intermediate);
            const [g = 0, u = 0] = [values[gate], values[gate + intermediate]];
            const expected = referenceSwigluOai(g, u, constants);
            return Math.abs(value - expected) <= relative * Math.abs(expected) + 2 ** -133;
          });
        },
      };
    },
  };
}

await runBench('swiglu-oai', cases);
