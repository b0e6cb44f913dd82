import { type BenchCase, readCeiling, runBench } from '@altstream/bench';
import { download, expectClose, upload } from '@altstream/cuda-runtime/testing';
import { loadMoeKernels, topk } from '../src/index.js';
import { makeTopkInput, type TopkCase } from '../test/cases/topk.js';
import { referenceTopk } from '../test/reference/topk.js';

const m3 = { topK: 4, method: 'miniMax2', routedScalingFactor: 2 } as const;
const v3 = { topK: 8, method: 'deepseekV3', nGroup: 8, topkGroup: 4 } as const;

const problems: readonly TopkCase[] = [1, 16, 256, 2048].flatMap((tokens) => [
  { name: 'M3', tokens, experts: 128, config: m3 },
  { name: 'DeepSeek-V3', tokens, experts: 256, config: v3 },
]);

function makeCase(problem: TopkCase): BenchCase {
  const { name, tokens, experts, config } = problem;
  return {
    case: { router: name, tokens, experts, k: config.topK },
    bytes: tokens * (experts + 2 * config.topK) * 4,
    prepare: async (stream) => {
      const input = makeTopkInput(problem);
      const shape = [tokens, config.topK];
      const out = { ids: stream.tensor(shape, 'i32'), weights: stream.tensor(shape, 'f32') };
      const tensors = {
        logits: upload(stream, input.logits, [tokens, experts], 'f32'),
        routingBias: upload(stream, input.bias ?? [], [experts], 'f32'),
      };
      return {
        run: () => void topk(tensors, config, { stream, out }),
        check: async () => {
          const ids = [...(await download(stream, out.ids))].map(Number);
          expectClose(ids, referenceTopk(input, config).ids);
        },
      };
    },
  };
}

const setting = {
  bench: 'topk',
  from: import.meta.url,
  load: loadMoeKernels,
  ceiling: readCeiling,
};
await runBench(setting, problems.map(makeCase));
