import { type BenchCase, readCeiling, runBench } from '@altstream/bench';
import { download, expectClose, upload } from '@altstream/cuda-runtime/testing';
import { loadMoeKernels, permute } from '../src/index.js';
import { makeIds } from '../test/cases/routing.js';
import { referencePermute } from '../test/reference/permute.js';

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
        check: async () => {
          const rows = [...(await download(stream, run().rows))].map(Number);
          const expected = referencePermute(ids, { offset: 0, local: experts, tileRows });
          expectClose(rows, expected.rows);
        },
      };
    },
  };
}

const setting = {
  bench: 'permute',
  from: import.meta.url,
  load: loadMoeKernels,
  ceiling: readCeiling,
};
await runBench(setting, [1, 64, 1024, 8192].map(makeCase));
