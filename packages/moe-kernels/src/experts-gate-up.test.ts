import type { DType, Tensor } from '@altstream/cuda-runtime';
import { describe, expect, it } from 'vitest';
import { fakeStream } from '../test/makers/fake-stream.js';
import type { SwigluConfig } from './arguments/swiglu-config.js';
import { expertsGateUp } from './experts-gate-up.js';
import { planExpertsGateUp } from './experts-gate-up.plan.js';

/** 3 tokens, k = 2, 4 local experts, hidden 64, intermediate 96 unless changed. */
async function run(
  changes: {
    readonly hidden?: readonly [readonly number[], DType];
    readonly w13?: readonly [readonly number[], DType];
    readonly scales?: readonly number[] | null;
    readonly tokens?: number;
    readonly swiglu?: SwigluConfig;
  } = {},
) {
  const { stream, launches, tensor } = await fakeStream();
  const { tokens = 3, scales = [4, 192, 2], swiglu = {} } = changes;
  const [shape, dtype] = changes.hidden ?? [[tokens, 64], 'bf16'];
  const [weightShape, weightDtype] = changes.w13 ?? [[4, 192, 64], 'e4m3'];
  const w13: { data: Tensor; scales?: Tensor } = { data: tensor(weightShape, weightDtype) };
  if (scales !== null) w13.scales = tensor(scales, 'e8m0');
  const permutation = {
    offsets: tensor([5], 'i32'),
    rows: tensor([tokens * 2], 'i32'),
    slots: tensor([tokens, 2], 'i32'),
  };
  const y = expertsGateUp({ hidden: tensor(shape, dtype), w13, permutation }, swiglu, { stream });
  return { y, launches };
}

describe('expertsGateUp', () => {
  it('passes alpha, beta and limit of MiniMax-M3 unless told otherwise (sglang#33962)', async () => {
    const { launches, y } = await run();
    expect(y.shape).toEqual([6, 96]);
    expect(launches[0]).toMatchObject({
      kernel: 'experts_gate_up_mxfp8_bf16',
      params: { experts: 4, k: 2, hidden: 64, intermediate: 96, alpha: 1.702, beta: 1, limit: 7 },
    });
    const swiglu = { alpha: 1, beta: 0, limit: Number.POSITIVE_INFINITY };
    expect((await run({ swiglu })).launches[0]?.params).toMatchObject(swiglu);
  });

  it('has a kernel for each pair of weight and activation types', async () => {
    for (const weight of ['bf16', 'f32'] as const) {
      for (const activation of ['bf16', 'f32'] as const) {
        const { launches } = await run({
          hidden: [[3, 64], activation],
          w13: [[4, 192, 64], weight],
          scales: null,
        });
        expect(launches[0]?.kernel).toBe(`experts_gate_up_${weight}_${activation}`);
      }
    }
  });

  it('gives an empty y for no tokens and launches nothing', async () => {
    const { launches, y } = await run({ tokens: 0 });
    expect(y.shape).toEqual([0, 96]);
    expect(launches).toEqual([]);
  });

  it('plans one unit a channel block and expert', async () => {
    const { stream } = await fakeStream();
    const shape = { tokens: 3, k: 2, localExperts: 4, hidden: 64, intermediate: 100 };
    const formats = { weights: 'mxfp8', activations: 'f32' } as const;
    const never = () => ({ enabled: false, tokens: 3, limit: 0, source: 'none' }) as const;
    const plan = planExpertsGateUp({ ...shape, ...formats }, stream.device.limits, never);
    expect(plan.config.grid).toEqual([16]);
  });

  it.each([
    [
      { scales: null },
      'w13.scales is missing for e4m3 weights; MXFP8 is e4m3 data with e8m0 scales',
    ],
    [{ w13: [[4, 192, 64], 'bf16'] }, 'w13.scales is given for bf16 weights'],
    [
      { scales: [4, 192, 4] },
      '`w13.scales` is e8m0 [4, 192, 4], expected e8m0 [localExperts = 4, 2 · intermediate = 192, hidden / 32 = 2]',
    ],
    [
      { w13: [[4, 192, 32], 'e4m3'] },
      '`w13.data` is e4m3 [4, 192, 32], expected e4m3 or bf16 or f32 [localExperts = 4, 2 · intermediate, hidden = 64]',
    ],
    [{ w13: [[3, 192, 64], 'e4m3'] }, '`w13.data` is e4m3 [3, 192, 64]'],
    [
      { hidden: [[3, 40], 'f32'], w13: [[4, 192, 40], 'e4m3'] },
      'hidden must be a multiple of the MX block 32, got 40',
    ],
    [
      { w13: [[4, 191, 64], 'f32'], scales: null },
      'w13.data must have an even number of rows (gate, then up), got 191',
    ],
    [
      { hidden: [[2, 64], 'bf16'] },
      '`permutation.slots` is i32 [3, 2], expected i32 [tokens = 2, k]',
    ],
    [
      { hidden: [[3, 64], 'f16'] },
      '`hidden` is f16 [3, 64], expected f32 or bf16 [tokens, hidden]',
    ],
    [{ swiglu: { limit: 0 } }, 'limit must be > 0, got 0'],
    [{ swiglu: { limit: Number.NaN } }, 'limit must be > 0, got NaN'],
    [{ swiglu: { alpha: Number.NaN } }, 'alpha must be a finite number, got NaN'],
    [{ swiglu: { beta: Number.POSITIVE_INFINITY } }, 'beta must be a finite number, got Infinity'],
  ] as [Parameters<typeof run>[0], string][])('refuses %o', async (changes, message) => {
    await expect(run(changes)).rejects.toThrow(message);
  });
});
