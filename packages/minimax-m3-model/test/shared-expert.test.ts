import { hashConfig, hashTokens } from '@altstream/hash-checkpoint';
import { describe, expect, it } from 'vitest';
import { makeFolders } from './makers/folders.js';
import { worst } from './makers/golden.js';
import { makeModels } from './makers/models.js';
import { Session } from './makers/session.js';

const folder = makeFolders();
const load = makeModels();
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

  it("'auto' measures the given batch sizes and reports what it chose", async () => {
    const directory = await folder({ model: 'T32', mxfp8: true });
    const model = await load({ directory, sharedExpert: 'auto', measuredBatchSizes: [1, 4] });
    const { sharedExpert } = model.describe() as { sharedExpert: Record<string, unknown> };
    const measured = sharedExpert['measured'] as {
      tokens: number;
      separateUs: number;
      fusedUs: number;
      chosen: string;
    }[];
    expect(measured.map((m) => m.tokens)).toEqual([1, 4]);
    for (const { tokens: size, separateUs, fusedUs, chosen } of measured) {
      expect(separateUs).toBeGreaterThan(0);
      expect(chosen).toBe(fusedUs < separateUs ? 'fused' : 'separate');
      expect(model.sharedExpert.usesFused(size)).toBe(chosen === 'fused');
    }
    expect(model.sharedExpert.usesFused(3)).toBe(false);
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
      backend: 'cpu',
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
