import { DeviceLostError, open, type Runtime } from '@altstream/cuda-runtime';
import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Engine, type EngineOptions, type MarkovModel, StepError } from '../src/index.js';
import { collect, counted, countingModel, ids } from './makers/counting.js';
import { settledStats } from './makers/settled-stats.js';
import { WatchedModel } from './makers/watched-model.js';

onEachBackend((backend) => {
  describe('a step that fails', () => {
    let runtime: Runtime;
    let counting: MarkovModel;
    let model: WatchedModel;
    const engines: Engine[] = [];

    beforeAll(async () => {
      runtime = await open({ backend });
      counting = await countingModel(runtime);
    });
    beforeEach(() => {
      model = new WatchedModel(counting);
    });
    afterAll(async () => {
      for (const engine of engines) await engine.close();
      counting.dispose();
      await runtime.dispose();
    });

    async function start(options: Partial<EngineOptions> = {}): Promise<Engine> {
      const engine = await Engine.create({
        model,
        checkLedger: true,
        pages: 128, // given ones are not measured, so passes are those of the requests
        graphSizes: [],
        maxBatchedTokens: 8,
        maxPartialPrefills: 1,
        ...options,
      });
      engines.push(engine);
      return engine;
    }

    const isFree = async (engine: Engine): Promise<void> => {
      const { pages, running, waiting } = await settledStats(engine);
      expect([pages.pinned, pages.reserved, running, waiting]).toEqual([0, 0, 0, 0]);
    };

    /** The pass whose number of tokens is this throws, once. */
    function failAt(tokens: number, error: Error): void {
      model.before = (batch) => {
        if (batch.tokenIds.shape[0] !== tokens) return;
        model.before = () => undefined;
        throw error;
      };
    }

    it('ends the prompt that it computed, while others decode on', async () => {
      const engine = await start();
      const other = collect(engine.generate([3], { temperature: 0, maxTokens: 30 }));
      failAt(5, new Error('planted'));
      const failed = await collect(engine.generate([1, 2, 3, 4, 5], { temperature: 0 }));
      const last = failed.at(-1);
      expect(last).toMatchObject({ type: 'finish', reason: 'error', generatedTokens: 0 });
      expect(last?.type === 'finish' && last.error).toBeInstanceOf(StepError);
      expect(last?.type === 'finish' && last.error?.message).toMatch(/a prefill failed: planted/);
      expect(ids(await other)).toEqual(counted(3, 30));
      await isFree(engine);
    });

    it('ends the rows that it decoded, and the prompt of the same step goes on', async () => {
      const engine = await start({ maxSequences: 3 });
      const failing = [5, 9].map((id) =>
        collect(engine.generate([id], { temperature: 0, maxTokens: 40 })),
      );
      failAt(2, new Error('planted'));
      const late = await collect(
        engine.generate([1, 2, 3, 4, 5, 6, 7], { temperature: 0, maxTokens: 3 }),
      );
      for (const events of await Promise.all(failing)) {
        expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'error' });
      }
      expect(ids(late)).toEqual(counted(7, 3));
      expect(ids(await collect(engine.generate([8], { temperature: 0, maxTokens: 3 })))).toEqual(
        counted(8, 3),
      );
      await isFree(engine);
    });

    it('ends everything, once, when the device is lost', async () => {
      const faults: Error[] = [];
      const engine = await start({ onFault: (error) => faults.push(error) });
      failAt(4, new DeviceLostError({ api: 'test', detail: 'planted' }));
      const both = await Promise.all([
        collect(engine.generate([1, 2, 3, 4], { temperature: 0 })),
        collect(engine.generate([1, 2, 3, 4], { temperature: 0 })),
      ]);
      for (const events of both) expect(events.at(-1)).toMatchObject({ reason: 'error' });
      expect(faults).toHaveLength(1);
      expect(() => engine.generate([1])).toThrow(/gave up: a prefill failed: .*planted/);
      await engine.close();
    });

    it('drops a graph that cannot be captured, says why, and runs without it', async () => {
      model.before = (batch) => {
        if (batch.tokenIds.shape[0] === 4) throw new Error('no room for four');
      };
      const engine = await start({ graphSizes: [1, 4], maxSequences: 4 });
      const { dropped, buckets } = engine.stats().graphs;
      expect(dropped).toEqual([{ rows: 4, reason: 'no room for four' }]);
      expect(buckets.map(({ rows }) => rows)).toEqual([1]);
      model.before = () => undefined;
      const all = await Promise.all(
        [1, 2].map((id) => collect(engine.generate([id], { temperature: 0, maxTokens: 6 }))),
      );
      expect(all.map(ids)).toEqual([counted(1, 6), counted(2, 6)]);
      expect(engine.stats().graphs.eagerSteps).toBeGreaterThan(0);
    });

    it('blames a listener that throws, not its neighbours', async () => {
      const engine = await start({ maxSequences: 2 });
      const uncaught = new Promise<unknown>((resolve) => {
        const others = process.rawListeners('uncaughtException') as ((error: Error) => void)[];
        process.removeAllListeners('uncaughtException');
        process.once('uncaughtException', (error) => {
          for (const other of others) process.on('uncaughtException', other);
          resolve(error);
        });
      });
      const good = collect(engine.generate([4], { temperature: 0, maxTokens: 12 }));
      engine.submit([1], { maxTokens: 500 }, ({ type }) => {
        if (type === 'token') throw new Error('bad listener');
      });
      expect(await uncaught).toMatchObject({ message: 'bad listener' });
      expect(ids(await good)).toEqual(counted(4, 12));
      await new Promise((resolve) => setTimeout(resolve, 20));
      await isFree(engine);
    });
  });
});
