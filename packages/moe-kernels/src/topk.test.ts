import { describe, expect, it } from 'vitest';
import { fakeStream } from '../test/makers/fake-stream.js';
import { runTopk } from '../test/makers/run-topk.js';
import { withoutPdl } from './pdl.js';
import { routingMethods } from './routing/routing-method.js';
import { planTopk, type TopkShape } from './topk.plan.js';

describe('topk', () => {
  it('launches once and hands the recipe of MiniMax-M3 to the kernel', async () => {
    const { result, launches } = await runTopk({});
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
    const { result, launches } = await runTopk({}, { tokens: 0, options: { packed: true } });
    expect([result.ids.shape, result.ids.dtype]).toEqual([[0, 4], 'i32']);
    expect([result.weights.shape, result.weights.dtype]).toEqual([[0, 4], 'f32']);
    expect(result.packed?.shape).toEqual([0, 4]);
    expect(launches).toEqual([]);
  });

  it('checks the configuration also without tokens', async () => {
    await expect(runTopk({ topK: 200 }, { tokens: 0 })).rejects.toThrow('topK must be in');
  });

  it('leaves the scale to the output when that owns it, and says what the weights contain', async () => {
    const { launches, result } = await runTopk({ scaleOwner: 'output' });
    expect(launches[0]?.params['scale']).toBe(1);
    expect(result.scaledBy).toBe(1);
    expect((await runTopk({})).result.scaledBy).toBe(2);
  });

  it('multiplies by the scale also without renormalisation (sglang-jax#1282)', async () => {
    const { launches } = await runTopk({ renormalize: false });
    expect(launches[0]?.params).toMatchObject({ scale: 2, normalize: 0 });
  });

  it('appends shared experts with net weight exactly 1', async () => {
    const { launches, result } = await runTopk({ numFusedSharedExperts: 1, scaleOwner: 'output' });
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
  const recipe = { k: 4, shared: 0, groups: 1, score: 2, normalize: 1 };
  it('gives a warp to each token', async () => {
    const { stream } = await fakeStream();
    const shape = { tokens: 17, experts: 128, ...recipe, logitsDtype: 'bf16' } as const;
    const never = () => ({ enabled: false, tokens: 17, limit: 0, source: 'none' }) as const;
    const plan = planTopk(shape, stream.device.limits, never);
    expect(plan).toMatchObject({ kernel: 'topk_bf16', config: { grid: [3], block: [256] } });
  });

  it('puts as many warps into a block of a GPU as shared memory carries cheaply', async () => {
    const { stream } = await fakeStream({ sm: '9.0', cpuLevel: '', processors: 132 });
    const config = (experts: number, groups: number) => {
      const shape = { tokens: 17, experts, ...recipe, groups, logitsDtype: 'bf16' } as const;
      return planTopk(shape, stream.device.limits, withoutPdl).config;
    };
    expect(config(128, 1)).toEqual({ grid: [3], block: [256], sharedBytes: 8 * 8 * 160 });
    expect(config(256, 8)).toMatchObject({ block: [256], sharedBytes: 8 * 8 * 296 });
    expect(config(4096, 1)).toMatchObject({ grid: [17], block: [32], sharedBytes: 8 * 4128 });
  });

  it('keeps keys in registers where the recipe is plain and a GPU has few experts', async () => {
    const { stream } = await fakeStream({ sm: '9.0', cpuLevel: '', processors: 132 });
    const plan = (changed: Partial<TopkShape> = {}) => {
      const shape = {
        tokens: 17,
        experts: 128,
        ...recipe,
        logitsDtype: 'f32',
        ...changed,
      } as const;
      return planTopk(shape, stream.device.limits, withoutPdl);
    };
    expect(plan()).toMatchObject({ kernel: 'topk_f32_rows', config: { grid: [5], block: [128] } });
    expect(plan({ k: 31, shared: 1 }).kernel).toBe('topk_f32_rows');
    expect(plan({ score: 0, normalize: 0 }).kernel).toBe('topk_f32_rows');
    const others = [
      { experts: 129 },
      { k: 32, shared: 1 },
      { groups: 2 },
      { score: 1 },
      { score: 3 },
      { normalize: 3 },
    ];
    expect(others.map((other) => plan(other).kernel)).toEqual(others.map(() => 'topk_f32'));
    expect(plan({ logitsDtype: 'bf16' }).kernel).toBe('topk_bf16');
  });
});
