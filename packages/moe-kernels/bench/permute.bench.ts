import { download, upload } from '@altstream/cuda-runtime/testing';
import { permute } from '../src/index.js';
import { makeIds } from '../test/cases/routing.js';
import { referencePermute } from '../test/reference/permute.js';
import { type BenchCase, runBench } from './run-bench.js';

const [k, experts, tileRows] = [4, 128, 64];

function makeCase(tokens: number): BenchCase {
  return {
    case: { tokens, k, experts },
    bytes: tokens * k * 12,
    prepare: async (stream) => {
      const ids = makeIds({ tokens, k, experts });
      const tensor = upload(stream, ids, [tokens, k], 'i32');
      const run = () => permute(tensor, { numExperts: experts }, { stream, tileRows });
      return {
        run: () => void run(),
        isRight: async () => {
          const rows = [...(await download(stream, run().rows))].map(Number);
          const expected = referencePermute(ids, { offset: 0, local: experts, tileRows });
          return expected.rows.every((pair, row) => pair === rows[row]);
        },
      };
    },
  };
}

await runBench('permute', [1, 64, 1024, 8192].map(makeCase));
