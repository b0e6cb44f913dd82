import { type BenchCase, readCeiling, runBench } from '@altstream/bench';
import { Workspace } from '@altstream/cuda-runtime';
import { downloadRaw, expectClose, upload } from '@altstream/cuda-runtime/testing';
import { loadMoeKernels, RoutedExperts } from '../src/index.js';
import {
  activeExperts,
  mxfp8Bytes,
  prepareExperts,
  realWidth,
  tokenCounts,
} from './experts-problem.js';

const { k, hidden, intermediate, experts } = realWidth;
const elements = 3 * hidden * intermediate; // of one expert

/** permute, both projections and finalize of one layer; right = the same bits as token by token. */
function makeCase(tokens: number): BenchCase {
  const active = activeExperts(tokens);
  return {
    case: { weights: 'mxfp8', tokens, experts: active, hidden, intermediate },
    bytes: mxfp8Bytes(elements * active),
    flops: 2 * elements * tokens * k,
    prepare: async (stream) => {
      const { x, ids, weights, data } = prepareExperts(stream, tokens);
      const layer = new RoutedExperts(weights, { numExperts: experts });
      const router = data.routerWeights.subarray(0, tokens * k);
      const topk = { ids, weights: upload(stream, router, [tokens, k], 'f32') };
      const out = stream.tensor([tokens, hidden], 'bf16');
      const allocator = new Workspace(stream.device);
      return {
        run: () => {
          allocator.reset();
          layer.forward({ hidden: x, topk }, { stream, allocator, out });
        },
        check: async () => {
          const last = tokens - 1;
          const one = {
            hidden: x.slice(0, last, tokens),
            topk: { ids: ids.slice(0, last, tokens), weights: topk.weights.slice(0, last, tokens) },
          };
          const alone = await downloadRaw(stream, layer.forward(one, { stream }));
          const whole = await downloadRaw(stream, out);
          expectClose(whole.subarray(whole.length - alone.length), alone);
        },
      };
    },
  };
}

const setting = {
  bench: 'routed-experts',
  from: import.meta.url,
  load: loadMoeKernels,
  ceiling: readCeiling,
};
await runBench(setting, tokenCounts.map(makeCase));
