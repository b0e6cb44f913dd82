import { type BenchCase, readCeiling, runBench } from '@altstream/bench';
import { Workspace } from '@altstream/cuda-runtime';
import { seededRandom, upload } from '@altstream/cuda-runtime/testing';
import { expertsDown, loadMoeKernels } from '../src/index.js';
import { referenceDown } from '../test/reference/experts-down.js';
import {
  activeExperts,
  checkSome,
  mxfp8Bytes,
  prepareExperts,
  readPermutation,
  realWidth,
  tokenCounts,
} from './experts-problem.js';

const { k, hidden, intermediate } = realWidth;
const elements = hidden * intermediate; // of one expert

function makeCase(tokens: number): BenchCase {
  const active = activeExperts(tokens);
  return {
    case: { weights: 'mxfp8', tokens, experts: active, hidden, intermediate },
    bytes: mxfp8Bytes(elements * active),
    flops: 2 * elements * tokens * k,
    prepare: async (stream) => {
      const { weights, permutation, data } = prepareExperts(stream, tokens);
      const activated = seededRandom(2)
        .floats(tokens * k * intermediate)
        .map(data.round);
      const y = upload(stream, activated, [tokens * k, intermediate], 'bf16');
      const { expertOf } = await readPermutation(stream, permutation);
      const allocator = new Workspace(stream.device);
      const run = () => {
        allocator.reset();
        return expertsDown({ y, w2: weights.w2, permutation }, { stream, allocator });
      };
      return {
        run: () => void run(),
        check: () =>
          checkSome(
            stream,
            run(),
            (row, c) => {
              const yRow = activated.subarray(row * intermediate, (row + 1) * intermediate);
              return referenceDown(yRow, expertOf(row), c, data.reference);
            },
            tokens * k,
          ),
      };
    },
  };
}

const setting = {
  bench: 'experts-down',
  from: import.meta.url,
  load: loadMoeKernels,
  ceiling: readCeiling,
};
await runBench(setting, tokenCounts.map(makeCase));
