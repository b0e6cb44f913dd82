import { describe, expect, it } from 'vitest';
import { fakeStream } from '../test/makers/fake-stream.js';
import { withoutPdl } from './pdl.js';
import { permute } from './permute.js';
import { maxTiles, planPermute } from './permute.plan.js';

describe('permute', () => {
  it('launches once with the local range', async () => {
    const { stream, launches, tensor } = await fakeStream();
    const range = { numExperts: 16, localExpertOffset: 4, localNumExperts: 8 };
    const result = permute(tensor([3, 2], 'i32'), range, { stream });
    expect(result.offsets.shape).toEqual([9]);
    expect(result.rows.shape).toEqual([6]);
    expect(result.slots.shape).toEqual([3, 2]);
    expect(launches[0]).toMatchObject({
      kernel: 'permute',
      params: { tokens: 3, k: 2, expert_offset: 4, experts: 8, tiles: null, tile_count: null },
    });
  });

  it('gives empty maps for no tokens and launches nothing', async () => {
    const { stream, launches, tensor } = await fakeStream();
    const result = permute(tensor([0, 4], 'i32'), { numExperts: 8 }, { stream, tileRows: 16 });
    expect(result.rows.shape).toEqual([0]);
    expect(result.slots.shape).toEqual([0, 4]);
    expect(result.tiles?.shape).toEqual([0, 3]);
    expect(launches).toEqual([]);
  });

  it('reserves a tile that is not full for each expert that can be in use', () => {
    expect(maxTiles(0, 128, 16)).toBe(0);
    expect(maxTiles(4, 128, 16)).toBe(4);
    expect(maxTiles(128, 128, 16)).toBe(128);
    expect(maxTiles(32_768, 128, 128)).toBe(128 + 255);
    expect(maxTiles(5, 1, 4)).toBe(2);
  });

  it.each([
    [
      { numExperts: 8, localExpertOffset: 8 },
      'permute: localExpertOffset must be in [0, 7], got 8',
    ],
    [
      { numExperts: 8, localExpertOffset: -1 },
      'permute: localExpertOffset must be in [0, 7], got -1',
    ],
    [
      { numExperts: 8, localExpertOffset: 6, localNumExperts: 4 },
      'permute: localExpertOffset (6) + localNumExperts (4) exceeds numExperts (8)',
    ],
    [{ numExperts: 0 }, 'permute: numExperts must be in [1, 4097], got 0'],
  ])('refuses %o', async (range, message) => {
    const { stream, tensor } = await fakeStream();
    expect(() => permute(tensor([1, 2], 'i32'), range, { stream })).toThrow(message);
  });

  it('refuses ids of another type, naming both', async () => {
    const { stream, tensor } = await fakeStream();
    expect(() => permute(tensor([1, 2], 'i64'), { numExperts: 8 }, { stream })).toThrow(
      'permute: `ids` is i64 [1, 2], expected i32 [tokens, k]',
    );
  });
});

describe('planPermute', () => {
  it('gives each warp counts of its own, as many as fit', async () => {
    const hopper = { sm: '9.0', cpuLevel: '', processors: 132 };
    const device = (await fakeStream(hopper)).stream.device.limits;
    const config = (tokens: number, localExperts: number) =>
      planPermute({ tokens, k: 4, localExperts, hasTiles: true }, device, withoutPdl).config;
    expect(config(1, 128)).toEqual({ grid: [1], block: [128], sharedBytes: 4 * 128 * 4 });
    expect(config(8192, 128)).toEqual({ grid: [1], block: [1024], sharedBytes: 32 * 128 * 4 });
    expect(config(8192, 4097)).toEqual({ grid: [1], block: [448], sharedBytes: 14 * 4097 * 4 });
  });

  it('places few pairs without counts, unless tiles are wanted', async () => {
    const hopper = { sm: '9.0', cpuLevel: '', processors: 132 };
    const device = (await fakeStream(hopper)).stream.device.limits;
    const kernel = (tokens: number, localExperts: number, hasTiles = false) =>
      planPermute({ tokens, k: 4, localExperts, hasTiles }, device, withoutPdl).kernel;
    const few = { tokens: 1, k: 4, localExperts: 128 };
    const config = { grid: [1], block: [256] };
    expect(planPermute(few, device, withoutPdl)).toMatchObject({ kernel: 'permute_few', config });
    expect([kernel(64, 512), kernel(65, 128), kernel(1, 513), kernel(1, 8, true)]).toEqual([
      'permute_few',
      'permute',
      'permute',
      'permute',
    ]);
  });
});
