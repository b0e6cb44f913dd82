import { type BenchCase, readCeiling, runBench } from '@altstream/bench';
import { Workspace } from '@altstream/cuda-runtime';
import { resolveSwiglu } from '../src/arguments/swiglu-config.js';
import { expertsGateUp, loadMoeKernels } from '../src/index.js';
import { referenceGateUp } from '../test/reference/experts-gate-up.js';
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
const swiglu = resolveSwiglu({}, 'bench');
const elements = 2 * intermediate * hidden; // of one expert

function makeCase(tokens: number): BenchCase {
  const active = activeExperts(tokens);
  return {
    case: { weights: 'mxfp8', tokens, experts: active, hidden, intermediate },
    bytes: mxfp8Bytes(elements * active),
    flops: 2 * elements * tokens * k,
    prepare: async (stream) => {
      const { x, weights, permutation, data } = prepareExperts(stream, tokens);
      const input = { hidden: x, w13: weights.w13, permutation };
      const { rows, expertOf } = await readPermutation(stream, permutation);
      const allocator = new Workspace(stream.device);
      const run = () => {
        allocator.reset();
        return expertsGateUp(input, swiglu, { stream, allocator });
      };
      return {
        run: () => void run(),
        check: () =>
          checkSome(
            stream,
            run(),
            (row, c) => {
              const token = Math.floor((rows[row] ?? 0) / k);
              const xRow = data.x.subarray(token * hidden, (token + 1) * hidden);
              return referenceGateUp(xRow, expertOf(row), c, data.reference, swiglu);
            },
            tokens * k,
          ),
      };
    },
  };
}

const setting = {
  bench: 'experts-gate-up',
  from: import.meta.url,
  load: loadMoeKernels,
  ceiling: readCeiling,
};
await runBench(setting, tokenCounts.map(makeCase));
