import { describe, expect, it } from 'vitest';
import { fakeStream } from '../../test/makers/fake-stream.js';
import { planExpertsDown } from '../experts-down.plan.js';
import { planExpertsGateUp } from '../experts-gate-up.plan.js';
import { withoutPdl } from '../pdl.js';
import type { ExpertsShape, TensorCorePath } from './experts.shape.js';

const m3: ExpertsShape = {
  ...{ tokens: 1, k: 4, localExperts: 128, hidden: 6144, intermediate: 3072 },
  ...{ weights: 'mxfp8', activations: 'bf16' },
};

/** Plans of both projections on a Hopper. */
async function plan(
  changes: Partial<ExpertsShape>,
  { path, limits = {} }: { path?: TensorCorePath; limits?: object } = {},
) {
  const hopper = { sm: '9.0', cpuLevel: '', processors: 132, ...limits };
  const device = (await fakeStream(hopper)).stream.device.limits;
  const shape = { ...m3, ...changes };
  return {
    gateUp: planExpertsGateUp(shape, device, withoutPdl, { path }),
    down: planExpertsDown(shape, device, withoutPdl, { path }),
  };
}

describe('planExperts', () => {
  it('streams the weights of one token by blocks whose warps share row tiles', async () => {
    const { gateUp } = await plan({ intermediate: 768 });
    expect(gateUp).toMatchObject({
      path: 'stream',
      layout: 'plain',
      kernel: 'experts_gate_up_mxfp8_bf16_shared',
      // 96 row tiles of gates and ups for each of 4 experts
      config: { grid: [384], block: [32, 8], sharedBytes: 64_016 + 129 * 16 },
      refused: [
        { path: 'wgmma', reason: '1 rows an expert on average; tiles pay from 16' },
        { path: 'tiled', reason: '1 rows an expert on average; tiles pay from 24' },
      ],
    });
    const bf16 = await plan({ intermediate: 768, weights: 'bf16' });
    expect(bf16.gateUp).toMatchObject({
      kernel: 'experts_gate_up_bf16_bf16_shared',
      config: { sharedBytes: 73_760 + 129 * 16 },
    });
  });

  it('gives a warp row tiles of its own where they are many or short', async () => {
    const tp4 = { intermediate: 768 };
    // 384 row tiles of 3 slices for each of 4 experts: fewer than warps, spread over all places.
    expect((await plan(tp4)).down).toMatchObject({
      kernel: 'experts_down_mxfp8_bf16',
      config: { grid: [396], block: [32, 8], sharedBytes: 52_240 + 129 * 16 },
    });
    const kernelOf = async (tokens: number) => (await plan({ ...tp4, tokens })).gateUp.kernel;
    expect(await kernelOf(5)).toBe('experts_gate_up_mxfp8_bf16_shared'); // 20 * 96 < 132 * 16
    expect(await kernelOf(6)).toBe('experts_gate_up_mxfp8_bf16');
    // More columns than a block keeps sums of.
    expect((await plan({ ...tp4, hidden: 6400 })).gateUp.kernel).toBe('experts_gate_up_mxfp8_bf16');
    const narrow = await plan({ hidden: 64, intermediate: 32, localExperts: 8 });
    expect(narrow.down.config.grid).toEqual([16]);
  });

  it('takes two turns where each warp has work in both', async () => {
    const gridOf = async (tokens: number) =>
      (await plan({ intermediate: 768, tokens })).gateUp.config.grid;
    expect(await gridOf(16)).toEqual([396]); // 64 * 96 units < 2 * 396 * 8
    expect(await gridOf(17)).toEqual([792]);
  });

  it('takes tiles by warpgroups where experts have many rows', async () => {
    const { gateUp, down } = await plan({ tokens: 8192 });
    expect(gateUp).toMatchObject({
      path: 'wgmma',
      kernel: 'experts_gate_up_mxfp8_bf16_wgmma',
      config: { grid: [264], block: [384], sharedBytes: 165_984 + 1024 + 129 * 4 },
      // All rows of x, reordered: 8 columns a thread, 8 blocks a processor.
      workspaceBytes: 8192 * 6144 * 2,
      pack: { kernel: 'experts_pack_mxfp8', config: { grid: [1056], block: [256] } },
      refused: [
        { path: 'tiled', reason: 'warpgroups multiply the same tiles faster' },
        { path: 'stream', reason: '256 rows an expert on average; streaming pays below 16' },
      ],
    });
    expect(down).toMatchObject({
      kernel: 'experts_down_mxfp8_bf16_wgmma',
      config: { sharedBytes: 182_368 + 1024 + 129 * 4 },
      workspaceBytes: 8192 * 4 * 3072 * 2,
    });
    const bf16 = await plan({ tokens: 512, weights: 'bf16' });
    expect([bf16.gateUp.pack?.kernel, bf16.gateUp.config.sharedBytes]).toEqual([
      'experts_pack_bf16',
      182_352 + 1024 + 129 * 4,
    ]);
    expect(bf16.down.config.sharedBytes).toBe(198_736 + 1024 + 129 * 4);
    expect((await plan({ tokens: 511 })).gateUp.path).toBe('stream');
    expect((await plan({ tokens: 512 })).gateUp.path).toBe('wgmma');
  });

  it('takes tiles without them where they are not to be had, and says why', async () => {
    const limits = { sm: '8.0' };
    const { gateUp, down } = await plan({ tokens: 8192 }, { limits });
    expect(gateUp).toMatchObject({
      path: 'tiled',
      kernel: 'experts_gate_up_mxfp8_bf16_tiled',
      config: { grid: [264], block: [256], sharedBytes: 100_352 + 129 * 4 },
      workspaceBytes: 0,
      refused: [
        { path: 'wgmma', reason: 'compute capability 8.0 has no such products, 9.0 has' },
        { path: 'stream' },
      ],
    });
    expect(gateUp.pack).toBeUndefined();
    expect(down.kernel).toBe('experts_down_mxfp8_bf16_tiled');
    expect((await plan({ tokens: 767 }, { limits })).gateUp.path).toBe('stream');
    expect((await plan({ tokens: 768 }, { limits })).gateUp.path).toBe('tiled');
    const narrow = await plan({ tokens: 8192, intermediate: 96 });
    expect(narrow.gateUp.path).toBe('wgmma');
    expect(narrow.down).toMatchObject({
      path: 'tiled',
      refused: [
        { path: 'wgmma', reason: '96 columns are no whole stages of 64' },
        { path: 'stream' },
      ],
    });
    await expect(plan({}, { path: 'wgmma', limits })).rejects.toThrow(
      "experts_gate_up: path 'wgmma' cannot be had: compute capability 8.0 has no such products, 9.0 has",
    );
  });

  it('takes no warpgroups for weights of odd address or without columns', async () => {
    const reasonOf = async (changes: Partial<ExpertsShape>) => {
      const { gateUp } = await plan({ tokens: 8192, ...changes });
      expect(gateUp.path).toBe('tiled');
      return gateUp.refused.find(({ path }) => path === 'wgmma')?.reason;
    };
    expect(await reasonOf({ isAligned: false })).toMatch(/do not begin at a multiple of 16 bytes/);
    expect(await reasonOf({ hidden: 0 })).toBe('0 columns are no whole stages of 64');
  });

  it('says of paths that another was asked for', async () => {
    const { gateUp } = await plan({ tokens: 8192 }, { path: 'stream' });
    expect(gateUp.refused).toEqual([
      { path: 'wgmma', reason: "path 'stream' was asked for" },
      { path: 'tiled', reason: "path 'stream' was asked for" },
    ]);
  });

  it('streams where tiles do not fit, and says so', async () => {
    const limits = { sharedBytesPerBlockOptIn: 101_376 };
    const { gateUp } = await plan({ tokens: 8192, weights: 'bf16' }, { limits });
    expect(gateUp.path).toBe('stream');
    expect(gateUp.refused).toEqual([
      {
        path: 'wgmma',
        reason: 'tiles need 184020 bytes of shared memory, a block may have 101376',
      },
      {
        path: 'tiled',
        reason: 'tiles need 133764 bytes of shared memory, a block may have 101376',
      },
    ]);
  });

  it('takes a path that is asked for, or names the obstacle', async () => {
    expect((await plan({}, { path: 'tiled' })).gateUp.path).toBe('tiled');
    await expect(plan({ activations: 'f32' }, { path: 'stream' })).rejects.toThrow(
      "experts_gate_up: path 'stream' cannot be had: mxfp8 weights with f32 activations do not fit bf16 tensor cores",
    );
  });

  it('covers any routing with fewer blocks than fit', async () => {
    const tiny = { tokens: 2, k: 2, localExperts: 8, hidden: 64, intermediate: 32 };
    // 4 pairs may need 4 tiles of each of 4 row tiles of gates and ups.
    expect((await plan(tiny)).gateUp.config.grid).toEqual([16]);
    const none = { activations: 'f32', weights: 'f32' } as const;
    expect((await plan({ ...tiny, ...none })).gateUp).toMatchObject({
      path: 'simt',
      config: { grid: [4], block: [256] },
    });
  });

  it('has one path on the CPU', async () => {
    const limits = { sm: '', cpuLevel: 'avx2' };
    const { gateUp } = await plan({ tokens: 8192 }, { path: 'tiled', limits });
    expect(gateUp).toMatchObject({
      path: 'cpu',
      kernel: 'experts_gate_up_mxfp8_bf16',
      refused: [],
    });
  });
});
