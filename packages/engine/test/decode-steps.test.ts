import { open, type Runtime } from '@altstream/cuda-runtime';
import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  Engine,
  type GenerationEvent,
  type GenerationParameters,
  type MarkovModel,
} from '../src/index.js';
import { collect, counted, countingModel, ids, smoothModel } from './makers/counting.js';

/** `sampling_facts`, `sampling_weights` and `sampling`. */
const drawLaunchesOnCuda = 3;

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
    async function operationsPerToken(
      model: MarkovModel,
      parameters: GenerationParameters,
      lookAhead: boolean,
    ): Promise<number[]> {
      const engine = await Engine.create({ model, maxSequences: 4, lookAhead });
      const counts: number[] = [];
      await new Promise<void>((resolve) => {
        engine.submit([3], { temperature: 0, ...parameters }, ({ type }) => {
          if (type === 'token') counts.push(runtime.stats().operations);
          if (type === 'finish') resolve();
        });
      });
      await engine.close();
      return counts.slice(1).map((count, token) => count - (counts[token] ?? 0));
    }

    it('is one graph launch: tokens stay on the device, inputs and outputs are part of the graph', async () => {
      const [first = 0, ...others] = await operationsPerToken(counting, { maxTokens: 20 }, false);
      // The first one sends what is new: page table, sampling parameters and the token of the
      // prefill.
      expect(first).toBeGreaterThan(1);
      expect(new Set(others)).toEqual(new Set([1]));
    });

    it('is the graph between two copies with look-ahead, launched a token early', async () => {
      const counts = await operationsPerToken(counting, { maxTokens: 20 }, true);
      // The last token comes when nothing is left to launch.
      expect(counts.slice(1)).toEqual([...new Array(17).fill(3), 0]);
    });

    it.each([
      ['penalties', { presencePenalty: 0.5 }],
      ['biases', { logitBias: new Map([[4, 1]]) }],
      ['a least length', { minTokens: 50, stopTokenIds: [2] }],
    ])(
      'changes logits only for %s: behind the graph, with a draw and a copy of its own',
      async (_, given) => {
        const parameters = { maxTokens: 20, ...given };
        const alone = await operationsPerToken(counting, parameters, false);
        // A copy before and behind the graph, the change, the draw, and its undoing.
        const operations = 4 + (backend === 'cuda' ? drawLaunchesOnCuda : 1);
        expect(alone.slice(1)).toEqual(new Array(18).fill(operations));
        const ahead = await operationsPerToken(counting, parameters, true);
        expect(ahead.slice(1)).toEqual([...new Array(17).fill(operations + 1), 0]);
      },
    );

    it('counts the steps that change logits', async () => {
      const engine = await Engine.create({ model: counting, maxSequences: 4 });
      const ask = (given: GenerationParameters, last = 3) =>
        collect(engine.generate([last], { temperature: 0, ...given }));
      await ask({ maxTokens: 20 });
      expect(engine.stats().graphs.changedSteps).toBe(0);
      await Promise.all([ask({ maxTokens: 40 }), ask({ maxTokens: 11, frequencyPenalty: 0.5 }, 4)]);
      expect(engine.stats().graphs.changedSteps).toBe(10);
      await engine.close();
    });

    it('sends a page-table row more when a sequence gets a page', async () => {
      const model = await countingModel(runtime, { pageTokens: 4 });
      const steps = await operationsPerToken(model, { maxTokens: 16 }, false);
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
        for (const { captureMs } of buckets) expect(captureMs).toBeGreaterThan(0);
        await engine.close();
        // A GPU's driver takes memory in blocks and for each graph.
        if (backend === 'cuda') return workspaceBytes;
        // What all share was taken by the first that was captured, the largest.
        const captureBytes = buckets.map((bucket) => bucket.captureBytes);
        expect(captureBytes.at(-1)).toBeGreaterThanOrEqual(workspaceBytes / 2);
        expect(captureBytes.slice(0, -1).every((taken) => taken === 0)).toBe(true);
        return workspaceBytes;
      };
      expect(await bytes([1, 2, 4, 8])).toBe(await bytes([8]));
    });
  });
});
