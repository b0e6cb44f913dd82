import { DeviceLostError, open, type Runtime } from '@altstream/cuda-runtime';
import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Engine, type EngineOptions } from '../src/index.js';
import { collect, counted, countingModel, ids } from './makers/counting.js';
import { PagedModel } from './makers/paged-model.js';
import { WatchedModel } from './makers/watched-model.js';

const mib = 2 ** 20;

onEachBackend((backend) => {
  describe('a cache that is sized by measuring', () => {
    let runtime: Runtime;
    let model: PagedModel;
    beforeEach(async () => {
      // The free memory of a host moves with its other programs.
      const cpu = { limitBytes: 512 * mib };
      runtime = await open({ backend, isolated: true, ...(backend === 'cpu' && { cpu }) });
      model = new PagedModel(await countingModel(runtime, { maxPositions: 512, pageTokens: 16 }));
    });
    afterEach(() => runtime.dispose());
    const fraction = (leftBytes: number) => {
      const { memoryBytes } = model.device.limits;
      return 1 - (model.device.freeBytes - leftBytes) / memoryBytes;
    };

    it('takes what a part of the free memory holds, and stays below it', async () => {
      const memoryFraction = fraction(224 * mib);
      const options = { model, memoryFraction, maxSequences: 128, graphSizes: [128] };
      const engine = await Engine.create(options);
      const { total } = engine.stats().pages;
      const { cache } = engine.describe() as { cache: Record<string, unknown> };
      expect(cache).toMatchObject({
        pages: total,
        why: expect.stringContaining('what memory holds'),
      });
      // Graphs and steps take their part of it; all sequences could fill 256 MiB.
      expect(total * model.pageBytes).toBeGreaterThan(mib);
      expect(total * model.pageBytes).toBeLessThan(224 * mib);
      const all = await Promise.all(
        Array.from({ length: 64 }, (_, id) =>
          collect(engine.generate([id % 32], { temperature: 0, maxTokens: 40 })),
        ),
      );
      expect(all.map(ids)).toEqual(all.map((_, id) => counted(id % 32, 40)));
      await engine.close();
    });

    it('refuses what the free memory does not hold, and says what it would', async () => {
      const memoryFraction = fraction(224 * mib);
      const options = { model, memoryFraction, maxSequences: 4 };
      const bytes = model.device.freeBytes;
      const pages = Math.ceil(bytes / model.pageBytes) + 1;
      await expect(Engine.create({ ...options, pages })).rejects.toMatchObject({
        code: 'ENGINE_MEMORY',
        message: expect.stringMatching(/are free; what would fit: `pages` up to about \d+/),
      });
    });

    it('leaves the pages out that no sequence could fill', async () => {
      const engine = await Engine.create({
        model,
        memoryFraction: 0.95,
        maxSequences: 2,
        maxModelLength: 160,
      });
      expect(engine.stats().pages.total).toBe(20);
      await engine.close();
    });

    it('is free again when the device is lost before the first request', async () => {
      const watched = new WatchedModel(model);
      const before = runtime.stats().bytesInUse;
      watched.before = ({ tokenIds }) => {
        if (tokenIds.elements !== 2) return;
        throw new DeviceLostError({ api: 'test', detail: 'planted' });
      };
      const options = { model: watched, memoryFraction: 0.95, maxSequences: 4, graphSizes: [2, 4] };
      await expect(Engine.create(options)).rejects.toThrow('planted');
      await expect.poll(() => runtime.stats().bytesInUse).toBe(before);
    });
  });
});

// A device as small as wanted, whose every byte is the engine's, is only the CPU's.
describe('a cache on a device of given size', () => {
  let runtime: Runtime | undefined;
  afterEach(() => runtime?.dispose());

  /** A model on a device of so much memory. */
  async function modelOf(limitBytes: number): Promise<PagedModel> {
    runtime = await open({ backend: 'cpu', isolated: true, cpu: { limitBytes } });
    return new PagedModel(await countingModel(runtime, { maxPositions: 512, pageTokens: 16 }));
  }
  const start = (model: PagedModel, options: Partial<EngineOptions> = {}) =>
    Engine.create({ model, memoryFraction: 0.8, ...options });

  it('takes what the largest steps leave of the fraction, and stays below it', async () => {
    const model = await modelOf(100 * mib);
    const engine = await start(model, { maxSequences: 128, graphSizes: [128] });
    const { total } = engine.stats().pages;
    const { cache } = engine.describe() as { cache: Record<string, unknown> };
    expect(cache).toMatchObject({
      pages: total,
      fraction: 0.8,
      bytes: total * model.pageBytes,
      why: 'what memory holds at a fraction of 0.8',
    });
    const all = await Promise.all(
      Array.from({ length: 64 }, (_, id) =>
        collect(engine.generate([id % 32], { temperature: 0, maxTokens: 40 })),
      ),
    );
    expect(all.map(ids)).toEqual(all.map((_, id) => counted(id % 32, 40)));
    const used = 100 * mib - model.device.freeBytes;
    expect(used).toBeLessThanOrEqual(80 * mib);
    expect(used).toBeGreaterThan(80 * mib - 2 * model.pageBytes);
    await engine.close();
  });

  it('refuses a length that does not fit, and the length that it names does', async () => {
    const model = await modelOf(48 * mib);
    const options = { maxSequences: 1, memoryFraction: 0.7 };
    const before = model.device.freeBytes;
    const failed = await start(model, { ...options, maxModelLength: 512 }).catch((e) => e);
    expect(failed).toMatchObject({ code: 'ENGINE_MEMORY' });
    expect(failed.message).toMatch(/`maxModelLength` up to \d+, or smaller steps/);
    await expect.poll(() => model.device.freeBytes).toBe(before);
    const engine = await start(model, { ...options, maxModelLength: failed.context });
    await engine.close();
  });

  it('says so when the steps themselves do not fit, or the pages that were given', async () => {
    const model = await modelOf(48 * mib);
    await expect(start(model, { maxBatchedTokens: 100_000 })).rejects.toThrow(
      /activations of the largest step do not fit beside the weights: .* smaller `maxBatchedTokens`/,
    );
    await expect(start(model, { pages: 1000 })).rejects.toThrow(
      /1000 pages take 62\.5 MiB, but 4\d\.\d MiB are free; what would fit: `pages` up to about 7\d\d/,
    );
  });
});
