// Quantising weights at load, and activations of a step.
import { type BenchCase, runBench } from '@altstream/bench';
import { downloadRaw, expectClose, seededRandom, upload } from '@altstream/cuda-runtime/testing';
import { loadDenseKernels, quantizeMxfp8 } from '../src/index.js';
import { roundTo } from '../test/makers/round-to.js';
import { referenceQuantize } from '../test/reference/quantize-mxfp8.js';

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
        check: async () => {
          const { data, scales } = referenceQuantize(numbers.subarray(0, 64 * columns));
          const codes = await downloadRaw(stream, out.data);
          const bytes = await downloadRaw(stream, out.scales);
          expectClose(codes.subarray(0, data.length), data, { message: 'codes' });
          expectClose(bytes.subarray(0, scales.length), scales, { message: 'scales' });
        },
      };
    },
  };
}

const cases = sizes.flatMap((size) => (['f32', 'bf16'] as const).map((x) => ({ ...size, x })));
const setting = { bench: 'quantize-mxfp8', from: import.meta.url, load: loadDenseKernels };
await runBench(setting, cases.map(makeCase));
