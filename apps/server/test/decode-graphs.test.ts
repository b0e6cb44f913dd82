import { open, type Runtime } from '@altstream/cuda-runtime';
import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { Engine, type GenerationEvent } from '@altstream/engine';
import { MiniMaxM3Model } from '@altstream/minimax-m3-model';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ModelFolder, makeModelFolder } from './makers/model-folder.js';

/** Prompts of several lengths; the longest ones need the sparse layers' choice of blocks. */
const prompts = [3, 40, 7, 61, 18].map((length, seed) =>
  Array.from({ length }, (_, i) => 3 + ((i * 37 + seed * 11) % 190)),
);

onEachBackend((backend) => {
  describe.each(['bfloat16', 'float32'] as const)('decode of MiniMax-M3 in %s', (dtype) => {
    let folder: ModelFolder;
    let runtime: Runtime;
    let model: MiniMaxM3Model;

    beforeAll(async () => {
      folder = await makeModelFolder('T32', { mxfp8: true });
      runtime = await open({ backend, isolated: true });
      model = await MiniMaxM3Model.load({ runtime, directory: folder.path, dtype });
    });
    afterAll(async () => {
      model.dispose();
      await runtime.dispose();
      folder.remove();
    });

    /** Each prompt's tokens, with log-probabilities, from the given number of requests at once. */
    async function answers(graphSizes: number[], together: number): Promise<GenerationEvent[][]> {
      const options = { maxSequences: 5, maxModelLength: 96, pages: 64, maxBatchedTokens: 32 };
      const engine = await Engine.create({ model, graphSizes, ...options });
      const ask = async (prompt: readonly number[], seed: number): Promise<GenerationEvent[]> => {
        const events: GenerationEvent[] = [];
        const parameters = { seed, temperature: seed % 2, logprobs: 4, maxTokens: 12 };
        for await (const event of engine.generate(prompt, parameters)) events.push(event);
        return events;
      };
      const all: GenerationEvent[][] = [];
      for (let first = 0; first < prompts.length; first += together) {
        const some = prompts.slice(first, first + together);
        all.push(...(await Promise.all(some.map((prompt, i) => ask(prompt, first + i)))));
      }
      const { eagerSteps, dropped } = engine.stats().graphs;
      expect([eagerSteps === 0, dropped]).toEqual([graphSizes.length > 0, []]);
      await engine.close();
      return all;
    }

    it('gives the same bits eagerly, in every bucket, and for every amount of padding', async () => {
      const eager = await answers([], 1);
      expect(eager.every((events) => events.length === 13)).toBe(true);
      expect(await answers([], 5)).toEqual(eager);
      for (const together of [1, 2, 3, 4, 5]) expect(await answers([8], together)).toEqual(eager);
      expect(await answers([1, 2, 4, 5], 5)).toEqual(eager);
    });
  });
});
