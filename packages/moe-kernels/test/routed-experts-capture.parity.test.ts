import { open } from '@altstream/cuda-runtime';
import {
  cpuLevels,
  describeEachBackend,
  downloadRaw,
  upload,
} from '@altstream/cuda-runtime/testing';
import { describe, expect, test } from 'vitest';
import { loadMoeKernels, topk } from '../src/index.js';
import type { ExpertsCase } from './cases/experts-gate-up.js';
import { makeExperts } from './makers/experts.js';
import { makeRoutedExperts, runBytes, uploadInput } from './makers/routed-experts.js';

const small: ExpertsCase = {
  name: '',
  tokens: 9,
  k: 2,
  experts: 8,
  hidden: 64,
  intermediate: 96,
  weights: 'mxfp8',
  activations: 'bf16',
};

describeEachBackend(
  'a captured call',
  [
    { ...small, name: 'gives the bits of the eager call, also on new contents' },
    { ...small, name: 'one token', tokens: 1 },
    { ...small, name: 'many tokens', tokens: 160, intermediate: 128 },
  ],
  async (context, testCase) => {
    const { stream, device } = context;
    const [first, second] = [
      makeExperts(testCase),
      makeExperts({ ...testCase, pattern: 'with -1' }),
    ];
    const experts = await makeRoutedExperts(context, testCase, first);
    const input = uploadInput(context, testCase, first);
    const out = stream.tensor([testCase.tokens, testCase.hidden], 'bf16');
    await stream.synchronize();
    const graph = device.capture((captured) => {
      experts.forward(input, { stream: captured, allocator: stream, out });
    });
    const exec = await graph.instantiate();
    exec.launch(stream);
    expect(await downloadRaw(stream, out)).toEqual(
      await runBytes(context, experts, testCase, first),
    );

    stream.write(input.topk.ids, Int32Array.from(second.ids));
    exec.launch(stream);
    const changed = { ...first, ids: second.ids };
    expect(await downloadRaw(stream, out)).toEqual(
      await runBytes(context, experts, testCase, changed),
    );
  },
);

describeEachBackend(
  'an empty batch',
  [{ ...small, name: 'is legal while capturing and adds no node (sglang#38773)' }],
  async (context, testCase) => {
    const { stream, device } = context;
    const experts = await makeRoutedExperts(context, testCase, makeExperts(testCase));
    const empty = { x: new Float32Array(), ids: [], routerWeights: new Float32Array() };
    const input = uploadInput(context, testCase, empty);
    const logits = upload(stream, [], [0, 8], 'f32');
    const graph = device.capture((captured) => {
      const config = { topK: 2, method: 'sigmoidRenorm' } as const;
      expect(topk({ logits }, config, { stream: captured, packed: true }).ids.shape).toEqual([
        0, 2,
      ]);
      expect(experts.forward(input, { stream: captured }).shape).toEqual([0, 64]);
    });
    expect(graph.nodes.filter(({ kind }) => kind === 'kernel')).toEqual([]);
  },
);

describe.each(cpuLevels())('threads, on cpu %s', (level) => {
  test('their number does not change a bit', async () => {
    const results: Uint8Array[] = [];
    for (const threads of [1, 2, 3, 7]) {
      const runtime = await open({ backend: 'cpu', isolated: true, cpu: { level, threads } });
      const device = runtime.device();
      const context = { runtime, device, stream: device.createStream() };
      await loadMoeKernels(runtime);
      const testCase = { ...small, tokens: 70 };
      const data = makeExperts(testCase);
      const experts = await makeRoutedExperts(context, testCase, data);
      results.push(await runBytes(context, experts, testCase, data));
      await runtime.dispose();
    }
    for (const result of results) expect(result).toEqual(results[0]);
  });
});
