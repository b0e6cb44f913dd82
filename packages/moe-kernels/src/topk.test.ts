import type { Tensor } from '@altstream/cuda-runtime';
import { describe, expect, it } from 'vitest';
import { fakeStream, fakeTensor } from '../test/makers/fake-stream.js';
import { MoeKernelsError } from './errors/index.js';
import { type RoutingMethod, routingMethods, routingRecipes } from './routing/routing-method.js';
import type { TopkConfig } from './routing/topk-config.js';
import { type TopkInput, type TopkOptions, topk } from './topk.js';
import { planTopk } from './topk.plan.js';

const m3: TopkConfig = { topK: 4, method: 'miniMax2', routedScalingFactor: 2 };

/** Runs top-k of `tokens` × `experts` on a fake stream. */
async function run(
  config: Partial<TopkConfig>,
  {
    tokens = 2,
    experts = 128,
    input = {},
    options = {},
  }: {
    readonly tokens?: number;
    readonly experts?: number;
    readonly input?: Partial<TopkInput>;
    readonly options?: Partial<TopkOptions>;
  } = {},
) {
  const { stream, launches, tensor } = await fakeStream();
  const method = config.method ?? m3.method;
  const bias =
    routingRecipes[method]?.bias === 'required' ? { routingBias: tensor([experts], 'f32') } : {};
  const logits = tensor([tokens, experts], 'f32');
  const fixed = Object.fromEntries(
    Object.entries(input).map(([key, value]) => [
      key,
      value && fakeTensor(stream.device, value.shape, value.dtype),
    ]),
  );
  const result = topk({ logits, ...bias, ...fixed }, { ...m3, ...config }, { stream, ...options });
  return { result, launches };
}

describe('topk', () => {
  it('launches once and hands the recipe of MiniMax-M3 to the kernel', async () => {
    const { result, launches } = await run({});
    expect(result.ids.shape).toEqual([2, 4]);
    expect(launches).toHaveLength(1);
    expect(launches[0]?.kernel).toBe('topk_f32');
    expect(launches[0]?.params).toMatchObject({
      tokens: 2,
      experts: 128,
      k: 4,
      shared: 0,
      score: 2,
      by_logit: 0,
      groups: 1,
      normalize: 1,
      nan_first: 0,
      scale: 2,
      shared_weight: 1,
      packed: null,
      positions: null,
      status: null,
    });
  });

  it('gives empty outputs of the right type for no tokens and launches nothing (sglang#38773)', async () => {
    const { result, launches } = await run({}, { tokens: 0, options: { packed: true } });
    expect([result.ids.shape, result.ids.dtype]).toEqual([[0, 4], 'i32']);
    expect([result.weights.shape, result.weights.dtype]).toEqual([[0, 4], 'f32']);
    expect(result.packed?.shape).toEqual([0, 4]);
    expect(launches).toEqual([]);
  });

  it('checks the configuration also without tokens', async () => {
    await expect(run({ topK: 200 }, { tokens: 0 })).rejects.toThrow('topK must be in');
  });

  it('leaves the scale to the output when that owns it, and says what the weights contain', async () => {
    const { launches, result } = await run({ scaleOwner: 'output' });
    expect(launches[0]?.params['scale']).toBe(1);
    expect(result.scaledBy).toBe(1);
    expect((await run({})).result.scaledBy).toBe(2);
  });

  it('multiplies by the scale also without renormalisation (sglang-jax#1282)', async () => {
    const { launches } = await run({ renormalize: false });
    expect(launches[0]?.params).toMatchObject({ scale: 2, normalize: 0 });
  });

  it('appends shared experts with net weight exactly 1', async () => {
    const { launches, result } = await run({ numFusedSharedExperts: 1, scaleOwner: 'output' });
    expect(launches[0]?.params).toMatchObject({ shared: 1, shared_weight: 0.5 });
    expect(result.ids.shape).toEqual([2, 5]);
  });

  it('numbers its methods as FlashInfer does', () => {
    expect(routingMethods).toMatchObject({
      default: 0,
      renormalize: 1,
      deepseekV3: 2,
      llama4: 3,
      renormalizeNaive: 4,
      topK: 5,
      sigmoidRenorm: 6,
      miniMax2: 7,
      sigmoid: 8,
      topKSigmoid: 9,
    });
  });
});

describe('planTopk', () => {
  it('gives a warp to each token', async () => {
    const { stream } = await fakeStream();
    const shape = { tokens: 17, experts: 128, k: 4, logitsDtype: 'bf16' } as const;
    const never = () => ({ enabled: false, tokens: 17, limit: 0, source: 'none' }) as const;
    const plan = planTopk(shape, stream.device.limits, never);
    expect(plan).toMatchObject({ kernel: 'topk_bf16', config: { grid: [3], block: [256] } });
  });
});

describe('topk refuses', () => {
  const softmaxBias = { shape: [128], dtype: 'f32' } as unknown as Tensor;
  const cases: [string, Partial<TopkConfig>, Parameters<typeof run>[1], string][] = [
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
    const failure = await run(config, where).catch((error: unknown) => error);
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
