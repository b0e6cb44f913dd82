import { type BenchCase, readCeiling, runBench } from '@altstream/bench';
import { Workspace } from '@altstream/cuda-runtime';
import { download, expectClose, upload } from '@altstream/cuda-runtime/testing';
import { loadMoeKernels, topkPermute } from '../src/index.js';
import { makeTopkInput } from '../test/cases/topk.js';
import { referenceTopkPermute } from '../test/reference/topk-permute.js';

const config = { topK: 4, method: 'miniMax2', routedScalingFactor: 2 } as const;
const experts = 128;

/** The router of MiniMax-M3; 64 tokens take two launches. */
function makeCase(tokens: number): BenchCase {
  return {
    case: { tokens, experts, k: config.topK },
    bytes: tokens * (experts + 4 * config.topK) * 4,
    prepare: async (stream) => {
      const input = makeTopkInput({ name: 'M3', tokens, experts, config });
      const tensors = {
        logits: upload(stream, input.logits, [tokens, experts], 'f32'),
        routingBias: upload(stream, input.bias ?? [], [experts], 'f32'),
      };
      const allocator = new Workspace(stream.device);
      const run = () => {
        allocator.reset();
        return topkPermute(tensors, config, { numExperts: experts }, { stream, allocator });
      };
      return {
        run: () => void run(),
        check: async () => {
          const rows = [...(await download(stream, run().permutation.rows))].map(Number);
          const { maps } = referenceTopkPermute(input, config, { offset: 0, local: experts });
          expectClose(rows, maps.rows);
        },
      };
    },
  };
}

const setting = {
  bench: 'topk-permute',
  from: import.meta.url,
  load: loadMoeKernels,
  ceiling: readCeiling,
};
await runBench(setting, [1, 4, 16, 32, 64].map(makeCase));
