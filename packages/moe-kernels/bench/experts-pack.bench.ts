import { type BenchCase, readCeiling, runBench } from '@altstream/bench';
import { downloadRaw, expectClose, upload } from '@altstream/cuda-runtime/testing';
import { expertsPack } from '../src/experts-pack.js';
import { planExpertsPack } from '../src/experts-pack.plan.js';
import { loadMoeKernels } from '../src/index.js';
import { withoutPdl } from '../src/pdl.js';
import { referenceExpertsPack } from '../test/reference/experts-pack.js';

/** Activations of MiniMax-M3 in front of gate and up, and a rank's of four in front of down. */
function makeCase(rows: number, columns: number): BenchCase {
  const shape = { tokens: rows, rows, columns, weights: 'mxfp8' } as const;
  return {
    case: { rows, columns },
    bytes: rows * columns * 4,
    prepare: async (stream) => {
      const bits = Uint16Array.from({ length: rows * columns }, (_, i) => (i * 40503) % 32749);
      const x = upload(stream, bits, [rows, columns], 'bf16');
      const packed = stream.tensor([rows * columns * 2], 'u8');
      const plan = planExpertsPack(shape, stream.device.limits, withoutPdl);
      return {
        run: () => expertsPack(stream, plan, x, packed),
        check: async () => {
          const { buffer } = await downloadRaw(stream, packed);
          const expected = referenceExpertsPack(bits, columns, 'mxfp8');
          expectClose(new Uint16Array(buffer), expected);
        },
      };
    },
  };
}

const setting = {
  bench: 'experts-pack',
  from: import.meta.url,
  load: loadMoeKernels,
  ceiling: readCeiling,
};
const sizes = [
  [64, 6144],
  [1024, 6144],
  [4096, 768],
] as const;
await runBench(
  setting,
  sizes.map(([rows, columns]) => makeCase(rows, columns)),
);
