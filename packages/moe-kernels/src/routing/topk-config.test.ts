import type { Tensor } from '@altstream/cuda-runtime';
import { describe, expect, it } from 'vitest';
import { fakeStream } from '../../test/makers/fake-stream.js';
import { m3, runTopk } from '../../test/makers/run-topk.js';
import { MoeKernelsError } from '../errors/index.js';
import { topk } from '../topk.js';
import type { RoutingMethod } from './routing-method.js';
import type { TopkConfig } from './topk-config.js';

describe('topk refuses', () => {
  const softmaxBias = { shape: [128], dtype: 'f32' } as unknown as Tensor;
  const cases: [string, Partial<TopkConfig>, Parameters<typeof runTopk>[1], string][] = [
    [
      'k above the experts',
      { topK: 200 },
      {},
      'topk: topK must be in [1, numExperts=128], got 200',
    ],
    ['k = 0', { topK: 0 }, {}, 'topk: topK must be in [1, numExperts=128], got 0'],
    [
      'a fraction',
      { topK: 1.5 },
      {},
      'topk: topK must be an integer in [1, numExperts=128], got 1.5',
    ],
    ['k above 32', { topK: 33 }, {}, 'topk: topK must be in [1, 32], got 33'],
    [
      'uneven groups',
      { method: 'deepseekV3', nGroup: 8 },
      { experts: 130 },
      'topk: numExperts (130) must be divisible by nGroup (8)',
    ],
    [
      'too few experts in the groups',
      { method: 'deepseekV3', topK: 8, nGroup: 32, topkGroup: 1 },
      {},
      'topk: topK (8) exceeds the 4 experts selectable from topkGroup (1) of nGroup (32)',
    ],
    [
      'more groups kept than there are',
      { method: 'deepseekV3', nGroup: 4, topkGroup: 5 },
      {},
      'topk: topkGroup must be in [1, nGroup=4], got 5',
    ],
    [
      'groups without a grouped method',
      { nGroup: 4 },
      {},
      'topk: nGroup > 1 is only valid with deepseekV3 / grouped softmax routing, got 4',
    ],
    [
      'a bias for softmax',
      { method: 'default' },
      { input: { routingBias: softmaxBias } },
      'topk: routingBias is not used by default routing',
    ],
    [
      'a NaN scale',
      { routedScalingFactor: Number.NaN },
      {},
      'topk: routedScalingFactor must be a finite number, got NaN',
    ],
    [
      'two experts for llama4',
      { method: 'llama4', topK: 2 },
      {},
      'topk: topK must be 1 with llama4 routing, got 2',
    ],
    [
      'an unknown method',
      { method: 'hash' as RoutingMethod },
      {},
      'topk: method must be one of default, renormalize,',
    ],
    [
      'renormalize off where inherent',
      { method: 'renormalize', renormalize: false },
      {},
      'topk: renormalize cannot be false with renormalize routing',
    ],
    [
      'a shared slot that cannot be 1',
      { numFusedSharedExperts: 1, scaleOwner: 'output', routedScalingFactor: 2.5 },
      {},
      "use scaleOwner 'weights'",
    ],
    [
      'flag without a status',
      { nanPolicy: 'flag' },
      {},
      "topk: status and nanPolicy 'flag' need each other",
    ],
    [
      'a bias of the wrong length',
      {},
      { input: { routingBias: { shape: [64], dtype: 'f32' } as unknown as Tensor } },
      'topk: `routingBias` is f32 [64], expected f32 [experts = 128]',
    ],
    [
      'positions of the wrong type',
      {},
      { input: { positions: { shape: [2], dtype: 'i64' } as unknown as Tensor } },
      'topk: `positions` is i64 [2], expected i32 [tokens = 2]',
    ],
  ];

  it.each(cases)('%s', async (_name, config, where, message) => {
    const failure = await runTopk(config, where).catch((error: unknown) => error);
    expect(MoeKernelsError.isInstance(failure)).toBe(true);
    expect(String((failure as Error).message)).toContain(message);
  });

  it('a method that needs a bias without one', async () => {
    const { stream, tensor } = await fakeStream();
    expect(() => topk({ logits: tensor([1, 128], 'f32') }, m3, { stream })).toThrow(
      'topk: routingBias is required by miniMax2 routing',
    );
  });

  it('an output of the wrong shape', async () => {
    const { stream, tensor } = await fakeStream();
    const out = { ids: tensor([1, 3], 'i32'), weights: tensor([1, 4], 'f32') };
    const input = { logits: tensor([1, 128], 'f32'), routingBias: tensor([128], 'f32') };
    expect(() => topk(input, m3, { stream, out })).toThrow(
      'topk: `out.ids` is i32 [1, 3], expected i32 [tokens = 1, slots = 4]',
    );
  });

  it('to run before the kernels are loaded', async () => {
    const { stream, tensor } = await fakeStream();
    const bare = { ...stream, runtime: {}, device: stream.device } as typeof stream;
    const input = { logits: tensor([1, 128], 'f32'), routingBias: tensor([128], 'f32') };
    expect(() => topk(input, m3, { stream: bare, allocator: stream })).toThrow(
      '`await loadMoeKernels(runtime)` once before the first operation',
    );
  });
});
