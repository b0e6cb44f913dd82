import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { describe, expect, it } from 'vitest';
import { expectBfloat16Noise } from './makers/bfloat16-noise.js';
import { makeFolders } from './makers/folders.js';
import { goldenNames, hashModelOf, readGolden } from './makers/golden.js';
import { makeModels } from './makers/models.js';
import { Session } from './makers/session.js';

onEachBackend((backend) => {
  const folder = makeFolders();
  const load = makeModels(backend);

  describe.each(goldenNames)('%s in bfloat16', (name) => {
    it('stays as near to fp32 as bf16 runs of the reference do', async () => {
      const golden = readGolden(name);
      const directory = await folder(hashModelOf(name));
      const model = await load({ directory, dtype: 'bfloat16' });
      const session = new Session(model, 1, golden.token_ids.length);
      const [rows = []] = await session.run([{ sequence: 0, tokens: golden.token_ids }]);
      const best = golden.top5_ids.map((ids, position) => ({
        ids,
        logprobs: golden.top5_logprobs[position] ?? [],
      }));
      expect(best.map(({ ids }) => ids[0])).toEqual(golden.argmax);
      expectBfloat16Noise(rows, best);
    });
  });
});
