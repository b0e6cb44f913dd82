import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fakeStream } from '../test/makers/fake-stream.js';
import { waitingKernels } from './kernel-plan.js';
import { RoutedExperts, type RoutedExpertsConfig } from './routed-experts.js';

/** 4 experts, hidden 64, intermediate 96, MXFP8. */
async function make(
  config: Partial<RoutedExpertsConfig> = {},
  limits: Parameters<typeof fakeStream>[0] = {},
) {
  const fake = await fakeStream(limits);
  const { tensor } = fake;
  const weights = {
    w13: { data: tensor([4, 192, 64], 'e4m3'), scales: tensor([4, 192, 2], 'e8m0') },
    w2: { data: tensor([4, 64, 96], 'e4m3'), scales: tensor([4, 64, 3], 'e8m0') },
  };
  const input = (tokens: number, scaledBy = 1) => ({
    hidden: tensor([tokens, 64], 'bf16'),
    topk: { ids: tensor([tokens, 2], 'i32'), weights: tensor([tokens, 2], 'f32'), scaledBy },
  });
  return {
    ...fake,
    weights,
    input,
    experts: new RoutedExperts(weights, { numExperts: 4, ...config }),
  };
}

const hopper = { sm: '9.0', cpuLevel: '', processors: 132 };

describe('RoutedExperts', () => {
  it('permutes, projects up, projects down, sums', async () => {
    const { experts, stream, launches, input } = await make();
    expect(experts.forward(input(3), { stream }).shape).toEqual([3, 64]);
    expect(launches.map(({ kernel }) => kernel)).toEqual([
      'permute',
      'experts_gate_up_mxfp8_bf16',
      'experts_down_mxfp8_bf16',
      'finalize_bf16',
    ]);
    // Two kernels lie between the maps and the sum, one between them and the down projection.
    expect(launches[2]?.params['settled']).toBe(1);
    expect(launches[3]?.params['settled']).toBe(1);
  });

  it('takes the maps of a call that brings them', async () => {
    const { experts, stream, launches, input, tensor } = await make(
      { pdl: { maxTokens: 3 } },
      hopper,
    );
    const permutation = {
      offsets: tensor([5], 'i32'),
      rows: tensor([6], 'i32'),
      slots: tensor([3, 2], 'i32'),
    };
    experts.forward({ ...input(3), permutation }, { stream });
    expect(launches.map(({ kernel }) => kernel)).toEqual([
      'experts_gate_up_mxfp8_bf16',
      'experts_down_mxfp8_bf16',
      'finalize_bf16',
    ]);
    expect(launches[2]?.params['slots']).toBe(permutation.slots);
    const steps = experts.describe().lastPlan?.steps ?? [];
    expect(steps.map(({ kernel, config }) => ({ kernel, config }))).toEqual(
      launches.map(({ kernel, config }) => ({ kernel, config })),
    );
    // The first launch follows a kernel of the caller.
    expect(steps.map(({ pdl }) => pdl.enabled)).toEqual([false, true, true]);
    const other = { ...permutation, offsets: tensor([4], 'i32') };
    expect(() => experts.forward({ ...input(3), permutation: other }, { stream })).toThrow(
      'RoutedExperts: `permutation.offsets` is i32 [4], expected i32 [localExperts + 1 = 5]',
    );
    const moved = { ...permutation, slots: tensor([2, 2], 'i32') };
    expect(() => experts.forward({ ...input(3), permutation: moved }, { stream })).toThrow(
      'RoutedExperts: `permutation.slots` is i32 [2, 2], expected i32 [tokens = 3, k = 2]',
    );
  });

  it('reorders activations of many tokens for warpgroups, and says what one projection refused', async () => {
    const { experts, stream, launches, input } = await make({}, hopper);
    experts.forward(input(32), { stream });
    const plan = experts.describe().lastPlan;
    expect(launches.map(({ kernel }) => kernel)).toEqual([
      'permute_few',
      'experts_pack_mxfp8',
      'experts_gate_up_mxfp8_bf16_wgmma',
      'experts_down_mxfp8_bf16',
      'finalize_bf16',
    ]);
    expect(plan?.steps.map(({ kernel, config }) => ({ kernel, config }))).toEqual(
      launches.map(({ kernel, config }) => ({ kernel, config })),
    );
    expect(plan?.steps.map(({ pdl }) => pdl.enabled)).toEqual([false, true, true, true, true]);
    // Maps, y, h2 and x in the other order.
    expect(plan?.workspaceBytes).toBe((5 + 2 * 64) * 4 + 64 * (96 + 64) * 2 + 32 * 64 * 2);
    expect(plan?.refused.slice(1)).toEqual([
      { path: 'tiled', reason: 'gate and up: warpgroups multiply the same tiles faster' },
      {
        path: 'stream',
        reason: 'gate and up: 16 rows an expert on average; streaming pays below 16',
      },
      { path: 'wgmma', reason: 'down: 96 columns are no whole stages of 64' },
      { path: 'tiled', reason: 'down: 16 rows an expert on average; tiles pay from 24' },
    ]);
  });

  it('gives the decision about the first launch to the reordering of a call that brings its maps', async () => {
    const { experts, stream, input, tensor } = await make({}, hopper);
    const [offsets, rows] = [tensor([5], 'i32'), tensor([64], 'i32')];
    const permutation = { offsets, rows, slots: tensor([32, 2], 'i32') };
    experts.forward({ ...input(32), permutation }, { stream });
    const steps = experts.describe().lastPlan?.steps ?? [];
    expect(steps.map(({ kernel, pdl }) => [kernel, pdl.enabled])).toEqual([
      ['experts_pack_mxfp8', false],
      ['experts_gate_up_mxfp8_bf16_wgmma', true],
      ['experts_down_mxfp8_bf16', true],
      ['finalize_bf16', true],
    ]);
  });

  it('says which experts they are', async () => {
    const { experts } = await make({ numExperts: 9, localExpertOffset: 5, localNumExperts: 4 });
    expect(experts.range).toEqual({ numExperts: 9, localExpertOffset: 5, localNumExperts: 4 });
  });

  it('launches nothing for no tokens', async () => {
    const { experts, stream, launches, input } = await make();
    expect(experts.forward(input(0), { stream }).shape).toEqual([0, 64]);
    expect(launches).toEqual([]);
    expect(experts.describe().lastPlan?.steps).toEqual([]);
  });

  it('describes what it launched: every launch is one step of the plan, with its decision', async () => {
    const { experts, stream, launches, input } = await make({ pdl: { maxTokens: 2 } });
    experts.forward(input(3), { stream });
    const steps = experts.describe().lastPlan?.steps ?? [];
    expect(steps.map(({ kernel, config }) => ({ kernel, config }))).toEqual(
      launches.map(({ kernel, config }) => ({ kernel, config })),
    );
    for (const { pdl } of steps) {
      expect(pdl).toEqual({
        enabled: false,
        tokens: 3,
        limit: 2,
        source: 'config',
        reason: '3 tokens are more than the limit 2',
      });
    }
  });

  it('says why a launch within the limit is not programmatic here', async () => {
    const { experts, stream, launches, input } = await make();
    experts.forward(input(3), { stream, pdl: { maxTokens: { mxfp8: 3 } } });
    expect(launches.every(({ config }) => config.programmatic === undefined)).toBe(true);
    const decisions = experts.describe().lastPlan?.steps.map(({ pdl }) => pdl) ?? [];
    for (const decision of decisions) {
      expect(decision).toMatchObject({ enabled: false, limit: 3, source: 'call' });
    }
    expect(decisions.map(({ reason }) => reason)).toEqual([
      'the call does not say `pdlWithPredecessor`',
      ...new Array<string>(3).fill('there is nothing to hide on the CPU'),
    ]);
  });

  it('launches programmatically behind its own kernels on a Hopper, up to the limit', async () => {
    const { experts, stream, launches, input } = await make({ pdl: { maxTokens: 3 } }, hopper);
    const isEarly = () =>
      launches.splice(0).map(({ config }) => config.programmatic?.serialize === true);
    experts.forward(input(3), { stream });
    expect(isEarly()).toEqual([false, true, true, true]);
    experts.forward(input(3), { stream, pdlWithPredecessor: true });
    expect(isEarly()).toEqual([true, true, true, true]);
    experts.forward(input(4), { stream });
    expect(isEarly()).toEqual([false, false, false, false]);
  });

  it('knows of exactly those waiting kernels that the headers declare (flashinfer#2708)', () => {
    const folder = new URL('../native/include/moe_kernels/', import.meta.url);
    const lines = readdirSync(folder).flatMap((name) =>
      readFileSync(new URL(name, folder), 'utf8').split('\n'),
    );
    const waiting = lines
      .filter((line) => /^\/\* kernel .*pdl=\S*waits/.test(line))
      .map((line) => line.split(' ')[2]);
    expect(waiting.sort()).toEqual([...waitingKernels].sort());
  });

  it('reports format, sizes, activation and what was refused', async () => {
    const { experts, stream, input } = await make({ outputScale: 2, swiglu: { alpha: 1 } });
    experts.forward(input(1), { stream });
    expect(experts.describe()).toMatchObject({
      weights: 'mxfp8',
      mode: 'W8A16',
      localExperts: 4,
      hidden: 64,
      intermediate: 96,
      swiglu: { alpha: 1, beta: 1, limit: 7 },
      outputScale: 2,
      lastPlan: { refused: [{ path: 'W8A8' }] },
    });
  });

  it('refuses to scale twice (sglang#35152, vLLM#24118)', async () => {
    const { experts, stream, input } = await make({ outputScale: 2 });
    expect(() => experts.forward(input(1, 2), { stream })).toThrow(
      'the routed scaling factor would be applied twice: topk.weights contain 2 and outputScale is 2',
    );
    experts.forward(input(1, 1), { stream });
  });

  it('refuses weights of two formats and a wrong number of experts', async () => {
    const { weights, tensor } = await make();
    const w2 = { data: tensor([4, 64, 96], 'bf16') };
    expect(() => new RoutedExperts({ ...weights, w2 }, { numExperts: 4 })).toThrow(
      'RoutedExperts: w13 and w2 must have one format, got e4m3 and bf16',
    );
    expect(() => new RoutedExperts(weights, { numExperts: 8 })).toThrow(
      'RoutedExperts: `w2.data` is e4m3 [4, 64, 96], expected e4m3 or bf16 or f32 [localExperts = 8, hidden, intermediate]',
    );
  });

  it('refuses tokens of another width and a bad PDL setting, by name', async () => {
    const { experts, stream, tensor, input } = await make();
    const wide = { ...input(2), hidden: tensor([2, 32], 'bf16') };
    expect(() => experts.forward(wide, { stream })).toThrow(
      'RoutedExperts: `hidden` is bf16 [2, 32], expected f32 or bf16 [tokens, hidden = 64]',
    );
    expect(() => experts.forward(input(2), { stream, pdl: { maxTokens: 1.5 } })).toThrow(
      'options.pdl.maxTokens: expected an integer ≥ -1, got 1.5',
    );
  });

  it('disposes the weights that it owns', async () => {
    const { weights, experts } = await make();
    const disposed: unknown[] = [];
    const tensors = [weights.w13.data, weights.w13.scales, weights.w2.data, weights.w2.scales];
    for (const tensor of tensors) tensor.dispose = () => void disposed.push(tensor);
    experts.dispose();
    expect(disposed).toEqual(tensors);
  });
});
