import { type BenchCase, runBench } from '@altstream/bench';
import { download, expectClose, seededRandom, upload } from '@altstream/cuda-runtime/testing';
import { loadDenseKernels, rmsNorm } from '../src/index.js';
import { roundTo } from '../test/makers/round-to.js';
import { rmsNormInside, roundingOf } from '../test/makers/tolerance.js';
import { referenceRmsNorm } from '../test/reference/rms-norm.js';

const epsilon = 1e-6;
const sizes = [
  { tokens: 1, heads: 1, hidden: 6144 },
  { tokens: 32, heads: 1, hidden: 6144 },
  { tokens: 512, heads: 1, hidden: 6144 },
  { tokens: 32, heads: 64, hidden: 128 },
];

const cases = sizes.flatMap((size) =>
  (['bf16', 'f32'] as const).flatMap((dtype) =>
    (size.heads > 1 ? [0] : [0, 1]).map((added) => makeCase({ ...size, dtype, added })),
  ),
);

function makeCase(values: {
  tokens: number;
  heads: number;
  hidden: number;
  dtype: 'bf16' | 'f32';
  added: number;
}): BenchCase {
  const { tokens, heads, hidden, dtype, added } = values;
  const count = tokens * heads * hidden;
  return {
    case: values,
    bytes: (added ? 4 : 2) * count * (dtype === 'bf16' ? 2 : 4),
    prepare: async (stream) => {
      const random = seededRandom(1);
      const shape = [tokens, heads, hidden];
      const x = roundTo(random.floats(count), dtype);
      const weight = roundTo(random.floats(hidden), dtype);
      const residual = added ? roundTo(random.floats(count), dtype) : undefined;
      const input = {
        x: upload(stream, x, shape, dtype),
        weight: upload(stream, weight, [hidden], dtype),
      };
      const term = residual && upload(stream, residual, shape, dtype);
      const [out, residualOut] = [stream.tensor(shape, dtype), stream.tensor(shape, dtype)];
      const options = { stream, epsilon, out, residualOut };
      const expected = referenceRmsNorm({ x, weight, residual, epsilon, gemma: true }).y;
      const relative = rmsNormInside + roundingOf(dtype);
      return {
        run: () => {
          if (term) rmsNorm({ ...input, residual: term }, options);
          else rmsNorm(input, options);
        },
        check: async () =>
          expectClose((await download(stream, out)) as Float32Array, expected, { relative }),
      };
    },
  };
}

const setting = { bench: 'rms-norm', from: import.meta.url, load: loadDenseKernels };
await runBench(setting, cases);
