import { type BenchCase, runBench } from '@altstream/bench';
import { download, expectClose, seededRandom, upload } from '@altstream/cuda-runtime/testing';
import { add, loadDenseKernels } from '../src/index.js';
import { addCases } from '../test/cases/add.js';
import { roundTo } from '../test/makers/round-to.js';
import { referenceAdd } from '../test/reference/add.js';

const large = (['bf16', 'f32'] as const).map((dtype) => ({ shape: [512, 6144], dtype }));

const cases = [...addCases.filter(({ shape }) => shape[0] !== 0), ...large].map(
  ({ shape, dtype }): BenchCase => {
    const count = shape.reduce((a, b) => a * b, 1);
    return {
      case: { dtype, shape: shape.join('x') },
      bytes: 3 * count * (dtype === 'bf16' ? 2 : 4),
      prepare: async (stream) => {
        const random = seededRandom(1);
        const [a, b] = [random.floats(count), random.floats(count)].map((v) => roundTo(v, dtype));
        if (!a || !b) throw new Error('no inputs');
        const input = { a: upload(stream, a, shape, dtype), b: upload(stream, b, shape, dtype) };
        const out = stream.tensor(shape, dtype);
        const expected = roundTo(Float32Array.from(referenceAdd(a, b)), dtype);
        return {
          run: () => void add(input, { stream, out }),
          check: async () => {
            const actual = (await download(stream, out)) as Float32Array;
            expectClose(actual, expected);
            if (!bytesOf(actual).equals(bytesOf(expected)))
              throw new Error('signs of zeros differ');
          },
        };
      },
    };
  },
);

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

const setting = { bench: 'add', from: import.meta.url, load: loadDenseKernels };
await runBench(setting, cases);
