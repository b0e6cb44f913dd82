// Quantising weights at load, and activations of a step.
import { downloadRaw, seededRandom, upload } from '@altstream/cuda-runtime/testing';
import { quantizeMxfp8 } from '../src/index.js';
import { roundTo } from '../test/makers/round-to.js';
import { referenceQuantize } from '../test/reference/quantize-mxfp8.js';
import { type BenchCase, runBench } from './run-bench.js';

const sizes = [
  { rows: 1, columns: 6144 },
  { rows: 64, columns: 6144 },
  { rows: 1024, columns: 6144 },
];

function makeCase(values: { rows: number; columns: number; x: 'f32' | 'bf16' }): BenchCase {
  const { rows, columns, x } = values;
  const elements = rows * columns;
  return {
    case: values,
    bytes: elements * ((x === 'bf16' ? 2 : 4) + 1 + 1 / 32),
    prepare: async (stream) => {
      const numbers = roundTo(seededRandom(1).floats(elements), x);
      const input = { x: upload(stream, numbers, [rows, columns], x) };
      const out = {
        data: stream.tensor([rows, columns], 'e4m3'),
        scales: stream.tensor([rows, columns / 32], 'e8m0'),
      };
      return {
        run: () => void quantizeMxfp8(input, { stream, out }),
        isRight: async () => {
          const checked = numbers.subarray(0, 64 * columns);
          const expected = referenceQuantize(checked);
          const data = await downloadRaw(stream, out.data);
          const scales = await downloadRaw(stream, out.scales);
          return (
            expected.data.every((code, i) => code === data[i]) &&
            expected.scales.every((byte, i) => byte === scales[i])
          );
        },
      };
    },
  };
}

const cases = sizes.flatMap((size) => (['f32', 'bf16'] as const).map((x) => ({ ...size, x })));
await runBench('quantize-mxfp8', cases.map(makeCase));
