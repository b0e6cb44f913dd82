import { describe, expect, it } from 'vitest';
import { fakeStream } from '../test/makers/fake-stream.js';
import { m3 } from '../test/makers/run-topk.js';
import { PdlPolicy, withoutPdl } from './pdl.js';
import { topkPermute } from './topk-permute.js';
import { planTopkPermute, type TopkPermuteShape } from './topk-permute.plan.js';

const hopper = { sm: '9.0', cpuLevel: '', processors: 132 };
const range = { numExperts: 128, localExpertOffset: 32, localNumExperts: 64 };

async function route(tokens: number, limits: Parameters<typeof fakeStream>[0] = hopper) {
  const { stream, launches, tensor } = await fakeStream(limits);
  const input = {
    logits: tensor([tokens, 128], 'f32'),
    routingBias: tensor([128], 'f32'),
    positions: tensor([tokens], 'i32'),
  };
  return { result: topkPermute(input, m3, range, { stream }), launches, input };
}

describe('topkPermute', () => {
  it('launches once for few tokens, with the recipe and the local range', async () => {
    const { result, launches, input } = await route(2);
    expect(launches).toHaveLength(1);
    expect(launches[0]).toMatchObject({
      kernel: 'topk_permute_f32',
      params: { tokens: 2, experts: 128, k: 4, shared: 0, score: 2, by_logit: 0, normalize: 1 },
    });
    const { params } = launches[0] ?? {};
    expect(params).toMatchObject({ expert_offset: 32, local_experts: 64, scale: 2, nan_first: 0 });
    expect(params?.['logits']).toBe(input.logits);
    expect(params?.['slots']).toBe(result.permutation.slots);
    expect(result.topk.ids.shape).toEqual([2, 4]);
    expect(result.topk.scaledBy).toBe(2);
    expect(result.permutation.offsets.shape).toEqual([65]);
    expect(result.permutation.rows.shape).toEqual([8]);
    expect(result.plan).toMatchObject({ path: 'fused', refused: [] });
  });

  it('launches top-k and permute for more, and says why', async () => {
    const { result, launches } = await route(33);
    expect(launches.map(({ kernel }) => kernel)).toEqual(['topk_f32_rows', 'permute_few']);
    expect(launches[1]?.params['ids']).toBe(result.topk.ids);
    expect(result.plan.steps.map(({ kernel, config }) => ({ kernel, config }))).toEqual(
      launches.map(({ kernel, config }) => ({ kernel, config })),
    );
    const refused = [{ path: 'fused', reason: '33 tokens are more than 32' }];
    expect(result.plan).toMatchObject({ path: 'separate', refused });
  });

  it('has time to rehearse when it is launched before its predecessors are done', async () => {
    const { stream, launches, tensor } = await fakeStream(hopper);
    const input = { logits: tensor([2, 128], 'f32'), routingBias: tensor([128], 'f32') };
    const pdl = new PdlPolicy({ maxTokens: 2 }, {}).chooser('mxfp8');
    topkPermute(input, m3, range, { stream, pdl });
    topkPermute(input, m3, range, { stream });
    expect(launches.map(({ params }) => params['rehearse'])).toEqual([1, 0]);
    expect(launches.map(({ config }) => config.programmatic?.serialize)).toEqual([true, undefined]);
  });

  it('gives empty outputs for no tokens and launches nothing', async () => {
    const { result, launches } = await route(0);
    expect(launches).toEqual([]);
    expect(result.topk.weights.shape).toEqual([0, 4]);
    expect(result.permutation.slots.shape).toEqual([0, 4]);
    expect(result.plan.steps).toEqual([]);
  });

  it('names itself when it refuses an argument', async () => {
    const { stream, tensor } = await fakeStream();
    const call = (shape: readonly number[], local: object) =>
      topkPermute(
        { logits: tensor(shape, 'f32'), routingBias: tensor([128], 'f32') },
        m3,
        { ...range, ...local },
        { stream },
      );
    expect(() => call([1, 128, 1], {})).toThrow('topkPermute: `logits` is f32 [1, 128, 1]');
    expect(() => call([1, 128], { localExpertOffset: 128 })).toThrow(
      'topkPermute: localExpertOffset must be in [0, 127], got 128',
    );
  });
});

describe('planTopkPermute', () => {
  const m3Shape: TopkPermuteShape = {
    tokens: 1,
    experts: 128,
    k: 4,
    shared: 0,
    groups: 1,
    score: 2,
    normalize: 1,
    logitsDtype: 'f32',
    localExperts: 128,
  };

  it('takes threads to score all tokens side by side, as far as a block has them', async () => {
    const device = (await fakeStream(hopper)).stream.device.limits;
    const config = (tokens: number) =>
      planTopkPermute({ ...m3Shape, tokens }, device, withoutPdl).steps[0]?.config;
    expect(config(1)).toEqual({ grid: [1], block: [256], sharedBytes: 1024 });
    expect(config(3)).toEqual({ grid: [1], block: [384], sharedBytes: 3072 });
    expect(config(32)).toEqual({ grid: [1], block: [1024], sharedBytes: 32_768 });
  });

  it.each<[Partial<TopkPermuteShape>, string]>([
    [{ tokens: 33 }, '33 tokens are more than 32'],
    [{ tokens: 32, k: 8, shared: 1 }, '288 pairs are more than 256'],
    [{ localExperts: 513 }, '513 local experts are more than 512'],
    [{ experts: 129 }, '129 experts are more than 128'],
    [{ logitsDtype: 'bf16' }, 'logits are bf16'],
    [{ groups: 4 }, 'experts are grouped'],
    [{ score: 1 }, 'the method has a softmax or a softplus'],
    [{ k: 33 }, '33 slots are more than 32'],
  ])('goes in two steps for %o', async (changed, reason) => {
    const device = (await fakeStream(hopper)).stream.device.limits;
    const plan = planTopkPermute({ ...m3Shape, ...changed }, device, withoutPdl);
    expect(plan.refused).toEqual([{ path: 'fused', reason }]);
    expect(plan.steps).toHaveLength(2);
  });
});
