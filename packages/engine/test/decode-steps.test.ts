import { open, type Runtime } from '@altstream/cuda-runtime';
import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Engine, type GenerationEvent, type MarkovModel } from '../src/index.js';
import { collect, counted, countingModel, ids, smoothModel } from './makers/counting.js';

onEachBackend((backend) => {
  describe('a decode step', () => {
    let runtime: Runtime;
    let counting: MarkovModel;
    let smooth: MarkovModel;

    beforeAll(async () => {
      runtime = await open({ backend, isolated: true });
      counting = await countingModel(runtime, { pageTokens: 64 });
      smooth = await smoothModel(runtime);
    });
    afterAll(async () => {
      counting.dispose();
      smooth.dispose();
      await runtime.dispose();
    });

    /** Operations submitted from each token of one request to the next, on an engine of its own. */
    async function operationsPerToken(model: MarkovModel, maxTokens: number): Promise<number[]> {
      const engine = await Engine.create({ model, maxSequences: 4 });
      const counts: number[] = [];
      await new Promise<void>((resolve) => {
        engine.submit([3], { temperature: 0, maxTokens }, ({ type }) => {
          if (type === 'token') counts.push(runtime.stats().operations);
          if (type === 'finish') resolve();
        });
      });
      await engine.close();
      return counts.slice(1).map((count, token) => count - (counts[token] ?? 0));
    }

    it('is one graph launch: tokens stay on the device, inputs and outputs are part of the graph', async () => {
      const [first = 0, ...others] = await operationsPerToken(counting, 20);
      // The first one sends what is new: page table, sampling parameters and the token of the prefill.
      expect(first).toBeGreaterThan(1);
      expect(new Set(others)).toEqual(new Set([1]));
    });

    it('sends a page-table row more when a sequence gets a page', async () => {
      const model = await countingModel(runtime, { pageTokens: 4 });
      const steps = await operationsPerToken(model, 16);
      expect(steps.slice(1)).toEqual([1, 1, 2, 1, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1]);
      model.dispose();
    });

    it('finds its tokens on the device as long as the rows stay, and they are right when rows move', async () => {
      const engine = await Engine.create({ model: counting, maxSequences: 4 });
      const lengths = [20, 3, 9, 30, 5, 12];
      const all = await Promise.all(
        lengths.map((maxTokens, id) =>
          collect(engine.generate([id], { temperature: 0, maxTokens })),
        ),
      );
      expect(all.map(ids)).toEqual(lengths.map((length, id) => counted(id, length)));
      const { buckets, fedSteps, eagerSteps } = engine.stats().graphs;
      const launches = buckets.reduce((sum, bucket) => sum + bucket.launches, 0);
      expect(fedSteps).toBeGreaterThan(launches / 2);
      expect(fedSteps).toBeLessThan(launches);
      expect(eagerSteps).toBe(0);
      await engine.close();
    });

    it('gives the same bits through graphs and eagerly', async () => {
      const run = async (graphSizes: number[]): Promise<GenerationEvent[][]> => {
        const engine = await Engine.create({ model: smooth, maxSequences: 8, graphSizes });
        const events = await Promise.all(
          Array.from({ length: 8 }, (_, id) =>
            collect(
              engine.generate([id], {
                seed: id,
                temperature: 0.9,
                logprobs: 3,
                maxTokens: 5 + 3 * id,
              }),
            ),
          ),
        );
        const { eagerSteps } = engine.stats().graphs;
        expect(eagerSteps === 0).toBe(graphSizes.length > 0);
        await engine.close();
        return events;
      };
      const eager = await run([]);
      expect(await run([1, 2, 4, 8])).toEqual(eager);
      expect(await run([8])).toEqual(eager);
      expect(await run([3, 5, 8])).toEqual(eager);
    });

    it('captures the largest bucket first; all share one workspace of its size', async () => {
      const bytes = async (graphSizes: number[]): Promise<number> => {
        const engine = await Engine.create({ model: smooth, maxSequences: 8, graphSizes });
        const { workspaceBytes, buckets } = engine.stats().graphs;
        expect(buckets.map(({ rows }) => rows)).toEqual([...graphSizes].sort((a, b) => a - b));
        await engine.close();
        return workspaceBytes;
      };
      expect(await bytes([1, 2, 4, 8])).toBe(await bytes([8]));
    });
  });
});
