import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { hashTokens } from '@altstream/hash-checkpoint';
import { describe, expect, it } from 'vitest';
import { makeFolders } from '../makers/folders.js';
import { worst } from '../makers/golden.js';
import { makeModels } from '../makers/models.js';
import { Session } from '../makers/session.js';

onEachBackend((backend) => {
  const folder = makeFolders();
  const load = makeModels(backend);
  const tokens = hashTokens(40, 256);

  describe('a variant of a model', () => {
    it('decides anew over the same weights and caches, without another byte of weights', async () => {
      const model = await load({ directory: await folder({ model: 'T32', mxfp8: true }) });
      const before = model.runtime.stats().bytesInUse;
      const serial = await model.variant({ overlap: 'off' });
      const fused = await model.variant({ sharedExpert: 'fused' });
      expect(model.runtime.stats().bytesInUse).toBe(before);
      expect(serial.describe()).toMatchObject({ overlap: { mode: 'off' } });
      expect(fused.describe()).toMatchObject({ sharedExpert: { mode: 'fused' } });
      const last = async (one: typeof model) => {
        const session = new Session(one, 1, 40);
        const [rows = []] = await session.run([{ sequence: 0, tokens }]);
        return rows.at(-1) ?? new Float32Array();
      };
      const expected = await last(model);
      expect(worst(await last(serial), expected)).toBe(0);
      expect(worst(await last(fused), expected)).toBeLessThan(1e-4);
    });

    it('measures for itself, and ends with the model that holds the weights', async () => {
      const model = await load({ directory: await folder({ model: 'T32' }) });
      const auto = await model.variant({ sharedExpert: 'auto', measuredBatchSizes: [2] });
      const again = await auto.variant({});
      expect(again.describe()).toMatchObject({ sharedExpert: { measured: [{ tokens: 2 }] } });
      const session = new Session(again, 1, 8);
      const run = () => session.run([{ sequence: 0, tokens: [5] }]);
      auto.dispose();
      await run();
      model.dispose();
      await expect(run()).rejects.toMatchObject({ code: 'MODEL_DISPOSED' });
      await expect(again.variant({})).rejects.toMatchObject({ code: 'MODEL_DISPOSED' });
    });
  });
});
