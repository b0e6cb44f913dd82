import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { hashConfig, hashTokens } from '@altstream/hash-checkpoint';
import { describe, expect, it } from 'vitest';
import { chooseWay } from '../../src/shared-expert/shared-expert-choice.js';
import { makeFolders } from '../makers/folders.js';
import { worst } from '../makers/golden.js';
import { makeModels } from '../makers/models.js';
import { Session } from '../makers/session.js';

onEachBackend((backend) => {
  const folder = makeFolders();
  const load = makeModels(backend);
  const tokens = hashTokens(40, 256);

  describe('sharedExpert', () => {
    it("'fused' gives the logits of 'separate' up to rounding, with one more slot per token", async () => {
      const directory = await folder({ model: 'T32', mxfp8: true });
      const slots: number[] = [];
      const last: Float32Array[] = [];
      for (const sharedExpert of ['separate', 'fused'] as const) {
        const session = new Session(await load({ directory, sharedExpert }), 1, 40);
        const taps = {
          router: (_: number, ids: { shape: readonly number[] }) => slots.push(ids.shape[1] ?? 0),
        };
        const [rows = []] = await session.run([{ sequence: 0, tokens }], { taps });
        last.push(rows.at(-1) ?? new Float32Array());
      }
      expect(slots).toEqual([2, 2, 2, 3, 3, 3]);
      expect(worst(last[0] ?? [], last[1] ?? [])).toBeLessThan(1e-4);
    });

    type Measured = Record<'tokens' | 'separateUs' | 'serialUs' | 'fusedUs', number> & {
      readonly chosen: 'separate' | 'serial' | 'fused';
      readonly why: string;
      readonly layers: number;
      readonly replays: number;
      readonly seconds: number;
    };
    const measuredOf = (model: { describe(): Record<string, unknown> }): Measured[] => {
      const { sharedExpert } = model.describe() as { sharedExpert: { measured: Measured[] } };
      return sharedExpert.measured;
    };
    const auto = { sharedExpert: 'auto', measuredBatchSizes: [1, 4] } as const;

    it("'auto' measures the given batch sizes, all three ways, and takes the fastest", async () => {
      const directory = await folder({ model: 'T32', mxfp8: true });
      const model = await load({ directory, ...auto });
      const measured = measuredOf(model);
      expect(measured.map(({ tokens: size, layers }) => [size, layers])).toEqual([
        [1, 3],
        [4, 3],
      ]);
      for (const one of measured) {
        const { tokens: size, separateUs, serialUs, fusedUs, chosen, why } = one;
        const us = [separateUs, serialUs, fusedUs];
        expect(chooseWay(['separate', 'serial', 'fused'], us)).toEqual({ chosen, why });
        expect(Math.min(...us, one.seconds)).toBeGreaterThan(0);
        expect(one.replays).toBeGreaterThanOrEqual(5);
        expect(model.sharedExpert.wayOf(size)).toBe(chosen);
      }
      expect(model.sharedExpert.wayOf(3)).toBe('separate');
    });

    it("'auto' never overlaps where nothing may, and still chooses between two ways", async () => {
      const directory = await folder({ model: 'T32', mxfp8: true });
      const model = await load({ directory, ...auto, overlap: 'off' });
      for (const measurement of measuredOf(model)) {
        expect(Object.keys(measurement)).not.toContain('serialUs');
        expect(measurement.separateUs).toBeGreaterThan(0);
      }
    });

    it("'auto' can find that an overlap does not pay: that size is captured on one stream", async () => {
      const directory = await folder({ model: 'T32', mxfp8: true });
      const model = await load({ directory, ...auto, measuredBatchSizes: [] });
      model.sharedExpert.record({
        tokens: 2,
        serialUs: 1,
        separateUs: 2,
        ...chooseWay(['serial', 'separate'], [1, 2]),
        layers: 1,
        replays: 1,
        seconds: 0,
      });
      const session = new Session(model, 3, 8);
      const streams = async (rows: number) =>
        new Set((await session.capture(rows)).graph.nodes.map(({ stream }) => stream)).size;
      expect([await streams(2), await streams(3)]).toEqual([1, 2]);
    });

    it("'fused' is refused when the shared expert has another width", async () => {
      const config = hashConfig('T32');
      const text = { ...(config['text_config'] as object), shared_intermediate_size: 64 };
      const directory = await folder({ model: { ...config, text_config: text } });
      const error = await load({ directory, sharedExpert: 'fused' }).catch((e: unknown) => e);
      expect(error).toMatchObject({ code: 'MODEL_SHARED_EXPERT' });
    });

    it('exists when its tensors exist, whatever the config says', async () => {
      const directory = await folder({ model: 'T32', flatConfig: true });
      const { report } = await load({ directory });
      expect(report.sharedExpertLayers).toBe(3);
    });
  });

  describe('a loaded model', () => {
    it('refuses a cache of another model and use after dispose', async () => {
      const one = await load({ directory: await folder({ model: 'T32' }) });
      const other = await load({ directory: await folder({ model: 'T128' }) });
      const session = new Session(one, 1, 8);
      const piece = [{ sequence: 0, tokens: [5] }];
      const foreign = Object.assign(new Session(one, 1, 8), { cache: other.createCache(1) });
      await expect(foreign.run(piece)).rejects.toMatchObject({ code: 'MODEL_FOREIGN_CACHE' });
      one.dispose();
      await expect(session.run(piece)).rejects.toMatchObject({ code: 'MODEL_DISPOSED' });
      expect(() => other.createCache(-1)).toThrow('whole number');
    });

    it('says what was chosen', async () => {
      const model = await load({ directory: await folder({ model: 'T128', mxfp8: true }) });
      expect(model.describe()).toMatchObject({
        backend,
        activations: 'f32',
        layers: { full: 1, sparse: 2, dense: 1, moe: 2 },
        cache: { pageTokens: 128 },
        sharedExpert: { mode: 'separate', layers: 2 },
        tensorParallel: { size: 1, sums: 'one rank' },
        weights: { storage: { mxfp8: 12, f32: 2, bf16: 2 } },
      });
      expect(model.pageBytes).toBe(128 * (3 * 2 * 2 * 128 + 2 * 128) * 4);
    });
  });
});
