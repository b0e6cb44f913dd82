// Widening weights: once at load where a path wants bf16.
import { type BenchCase, runBench } from '@altstream/bench';
import { download, expectClose, seededRandom, upload } from '@altstream/cuda-runtime/testing';
import { dequantizeMxfp8, loadDenseKernels } from '../src/index.js';
import { referenceDequantize } from '../test/reference/dequantize-mxfp8.js';

const sizes = [
  { rows: 64, columns: 6144 },
  { rows: 1024, columns: 6144 },
];

function makeCase(values: { rows: number; columns: number; y: 'f32' | 'bf16' }): BenchCase {
  const { rows, columns, y: outDtype } = values;
  const elements = rows * columns;
  return {
    case: values,
    bytes: elements * ((outDtype === 'bf16' ? 2 : 4) + 1 + 1 / 32),
    prepare: async (stream) => {
      const random = seededRandom(1);
      const data = Uint8Array.from({ length: elements }, (_, i) => (i * 7) % 127);
      const scales = Uint8Array.from({ length: elements / 32 }, () => random.integer(100, 130));
      const input = {
        data: upload(stream, data, [rows, columns], 'e4m3'),
        scales: upload(stream, scales, [rows, columns / 32], 'e8m0'),
      };
      const out = stream.tensor([rows, columns], outDtype);
      return {
        run: () => void dequantizeMxfp8(input, { stream, outDtype, out }),
        check: async () => {
          const actual = (await download(stream, out)) as Float32Array;
          expectClose(actual, referenceDequantize({ data, scales }));
        },
      };
    },
  };
}

const cases = sizes.flatMap((size) => (['f32', 'bf16'] as const).map((y) => ({ ...size, y })));
const setting = { bench: 'dequantize-mxfp8', from: import.meta.url, load: loadDenseKernels };
await runBench(setting, cases.map(makeCase));
