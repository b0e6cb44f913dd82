// The whole release, 412 GiB, on one GPU: the load fails when the memory is full, so it is filled
// first.
import { open, probe } from '@altstream/cuda-runtime';
import { describe, expect, it } from 'vitest';
import { builtInConfig } from '../../src/config/built-in-configs.js';
import { parseModelConfig } from '../../src/config.js';
import { weightBytes } from '../../src/loader/weight-memory.js';
import { MiniMaxM3Model } from '../../src/minimax-m3-model.js';

const cuda = (await probe()).find(({ backend }) => backend === 'cuda');
const reason = cuda?.usable ? '' : ` (no CUDA: ${cuda?.detail})`;

describe('a GPU that the release does not fit on', () => {
  it.skipIf(!cuda?.usable)(
    `on cuda is told so, with the layers and the ranks that would, and is free again${reason}`,
    async ({ skip }) => {
      const { embedding, head, layers } = weightBytes(
        parseModelConfig(builtInConfig('MiniMax-M3')),
      );
      const needed = layers.reduce((sum, bytes) => sum + bytes, embedding + head);
      const runtime = await open({ backend: 'cuda', isolated: true });
      try {
        if (runtime.device().freeBytes >= needed) skip('the release fits on this one');
        const loading = MiniMaxM3Model.load({
          runtime,
          directory: 'MiniMax-M3',
          loadFormat: 'dummy',
        });
        const error = await loading.catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({ code: 'MODEL_MEMORY', facts: { layers: 60 } });
        const { facts, message } = error as {
          facts: Record<'freeBytes' | 'layersThatFit' | 'ranksThatFit', number>;
          message: string;
        };
        const { freeBytes, layersThatFit, ranksThatFit } = facts;
        const fits = (count: number) =>
          layers.slice(0, count).reduce((sum, bytes) => sum + bytes, embedding + head) <= freeBytes;
        expect([fits(layersThatFit), fits(layersThatFit + 1)]).toEqual([true, false]);
        expect(ranksThatFit).toBe(Math.ceil(needed / freeBytes));
        expect(message).toContain(`one rank of ${ranksThatFit}`);
        await expect.poll(() => runtime.stats().bytesInUse).toBe(0);
      } finally {
        await runtime.dispose();
      }
    },
    900_000,
  );
});
