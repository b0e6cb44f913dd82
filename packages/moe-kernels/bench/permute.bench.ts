import { type BenchCase, readCeiling, runBench } from '@altstream/bench';
import { Workspace } from '@altstream/cuda-runtime';
import { download, expectClose, upload } from '@altstream/cuda-runtime/testing';
import { loadMoeKernels, permute } from '../src/index.js';
import { makeIds } from '../test/cases/routing.js';
import { referencePermute } from '../test/reference/permute.js';

const [k, experts, tileRows] = [4, 128, 64];

/** All experts, or a quarter of them as one rank of four holds. */
function makeCase(tokens: number, local: number): BenchCase {
  return {
    case: { tokens, k, experts, local },
    bytes: tokens * k * 12,
    prepare: async (stream) => {
      const ids = makeIds({ tokens, k, experts });
      const tensor = upload(stream, ids, [tokens, k], 'i32');
      const range = { numExperts: experts, localNumExperts: local };
      const allocator = new Workspace(stream.device);
      const run = () => {
        allocator.reset();
        return permute(tensor, range, { stream, allocator, tileRows });
      };
      return {
        run: () => void run(),
        check: async () => {
          const rows = [...(await download(stream, run().rows))].map(Number);
          const expected = referencePermute(ids, { offset: 0, local, tileRows });
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
const sizes = [1, 64, 1024, 8192];
const cases = [experts, experts / 4].flatMap((local) => sizes.map((n) => makeCase(n, local)));
await runBench(setting, cases);
