import { open, type Runtime } from '@altstream/cuda-runtime';
import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Engine, type EngineOptions, type MarkovModel } from '../src/index.js';
import { collect, countingModel, ids, smoothModel, vocab } from './makers/counting.js';
import { settledStats } from './makers/settled-stats.js';
import { until } from './makers/until.js';

onEachBackend((backend) => {
  describe('the engine', () => {
    let runtime: Runtime;
    let counting: MarkovModel;
    const engines: Engine[] = [];

    beforeAll(async () => {
      runtime = await open({ backend });
      counting = await countingModel(runtime);
    });
    afterAll(async () => {
      for (const engine of engines) await engine.close();
      counting.dispose();
      await runtime.dispose();
    });

    async function start(options: Partial<EngineOptions> = {}): Promise<Engine> {
      const engine = await Engine.create({ model: counting, checkLedger: true, ...options });
      engines.push(engine);
      return engine;
    }

    it('continues a prompt greedily and ends at the most tokens', async () => {
      const engine = await start();
      const events = await collect(engine.generate([3, 4], { temperature: 0, maxTokens: 5 }));
      expect(ids(events)).toEqual([5, 6, 7, 8, 9]);
      expect(events.at(-1)).toEqual({
        type: 'finish',
        reason: 'length',
        promptTokens: 2,
        cachedTokens: 0,
        generatedTokens: 5,
      });
    });

    it('ends at a stop token without delivering it', async () => {
      const engine = await start();
      const events = await collect(engine.generate([3], { temperature: 0, stopTokenIds: [7] }));
      expect(ids(events)).toEqual([4, 5, 6]);
      expect(events.at(-1)).toMatchObject({ reason: 'stop', stop: 7 });
    });

    it('ends at a stop string that spans tokens', async () => {
      const engine = await start({ tokenBytes: (id) => Buffer.from(String.fromCharCode(97 + id)) });
      const events = await collect(engine.generate([0], { temperature: 0, stopStrings: ['efg'] }));
      expect(events.at(-1)).toMatchObject({ reason: 'stop', stop: 'efg', generatedTokens: 6 });
    });

    it('serves many requests at once, each as if it were alone, through graphs', async () => {
      const engine = await start({ maxSequences: 4, maxBatchedTokens: 5 });
      const prompts = Array.from({ length: 11 }, (_, index) =>
        Array.from({ length: 1 + ((index * 7) % 13) }, (_, offset) => (index + offset) % vocab),
      );
      const results = await Promise.all(
        prompts.map((prompt, index) =>
          collect(engine.generate(prompt, { temperature: 0, maxTokens: 3 + (index % 5) })),
        ),
      );
      results.forEach((events, index) => {
        const last = prompts[index]?.at(-1) ?? 0;
        const expected = Array.from({ length: 3 + (index % 5) }, (_, n) => (last + 1 + n) % vocab);
        expect(ids(events)).toEqual(expected);
      });
      const { graphs, pages } = await settledStats(engine);
      expect(graphs.eagerSteps).toBe(0);
      expect(graphs.dropped).toEqual([]);
      expect(graphs.buckets.map(({ rows }) => rows)).toEqual([1, 2, 4]);
      expect(pages.free + pages.evictable).toBe(pages.total);
    });

    it('gives the same tokens with and without graphs, for any batch, from one seed', async () => {
      const random = await smoothModel(runtime);
      const alone = await start({ model: random, graphSizes: [] });
      const together = await start({ model: random, maxSequences: 4 });
      const parameters = { seed: 42, maxTokens: 20, temperature: 0.9, topK: 20, topP: 0.95 };
      const expected = ids(await collect(alone.generate([1, 2], parameters)));
      const others = [3, 9, 20].map((id) => collect(together.generate([id], { maxTokens: 25 })));
      expect(ids(await collect(together.generate([1, 2], parameters)))).toEqual(expected);
      await Promise.all(others);
      expect(alone.stats().graphs.eagerSteps).toBeGreaterThan(0);
    });

    it('frees the pages of a reader that leaves, and goes on for the others', async () => {
      const engine = await start({ maxSequences: 2 });
      const other = collect(engine.generate([5], { temperature: 0, maxTokens: 40 }));
      for await (const event of engine.generate([1], { maxTokens: 900 })) {
        if (event.type === 'token') break;
      }
      expect(ids(await other)).toHaveLength(40);
      const { pages, running } = await settledStats(engine);
      expect([pages.free + pages.evictable, running]).toEqual([pages.total, 0]);
    });

    it('reports logprobs of tokens and of the prompt', async () => {
      const engine = await start();
      const events = await collect(
        engine.generate([3, 4, 9], {
          temperature: 0,
          maxTokens: 1,
          logprobs: 2,
          promptLogprobs: 1,
        }),
      );
      const [prompt, token] = events;
      expect(prompt?.type === 'prompt' && prompt.tokens.map(({ top }) => top[0]?.id)).toEqual([
        4, 5,
      ]);
      expect(token?.type === 'token' && token.top.map(({ id }) => id)).toEqual([10, 0]);
      expect(token?.type === 'token' && token.logprob).toBeCloseTo(0, 5);
    });

    it('refuses prompts and parameters that cannot run, before queueing them', async () => {
      const engine = await start({ maxModelLength: 64, pages: 4 });
      expect(() => engine.generate([])).toThrow(/no tokens/);
      expect(() => engine.generate([vocab])).toThrow(/token 0 of the prompt is 32, expected an id/);
      expect(() => engine.generate([1.5])).toThrow(/token 0 of the prompt is 1.5/);
      expect(() => engine.generate(new Array(64).fill(1))).toThrow(
        /leave no room in a context of 64/,
      );
      expect(() => engine.generate([1], { topP: 3 })).toThrow(/`topP` is 3/);
      expect(engine.stats().waiting).toBe(0);
    });

    it('ends what is under way when it closes, and refuses what comes after', async () => {
      const engine = await start();
      const pending = collect(engine.generate([1], { maxTokens: 900 }));
      await until(() => engine.stats().generatedTokens > 0);
      await engine.close();
      expect((await pending).at(-1)).toMatchObject({ type: 'finish', reason: 'abort' });
      expect(() => engine.generate([1])).toThrow(/engine is closed/);
    });

    it('obeys an abort signal, also one that was given before', async () => {
      const engine = await start();
      const signal = AbortSignal.abort();
      const events = await collect(engine.generate([1], { signal }));
      expect(events).toEqual([
        { type: 'finish', reason: 'abort', promptTokens: 1, cachedTokens: 0, generatedTokens: 0 },
      ]);
    });

    it('refuses a length that its pages do not hold, and says what it clamped otherwise', async () => {
      const tooLong = Engine.create({ model: counting, pages: 2, maxModelLength: 100 });
      await expect(tooLong).rejects.toThrow(/`maxModelLength` is 100, expected at most 32/);
      const engine = await start({ pages: 2 });
      expect(engine.describe()['limits']).toMatchObject({
        maxModelLength: 32,
        modelMaxLength: 1024,
      });
      const events = await collect(engine.generate([1], { temperature: 0 }));
      expect(events.at(-1)).toMatchObject({ reason: 'length', generatedTokens: 31 });
    });

    it('takes what may run and what may wait, and refuses the next', async () => {
      const engine = await start({ maxSequences: 2, maxWaiting: 3 });
      const taken = Array.from({ length: 5 }, () =>
        collect(engine.generate([1], { maxTokens: 2 })),
      );
      expect(() => engine.generate([1])).toThrow(/0 requests run and 5 wait already; try again/);
      await Promise.all(taken);
    });
  });
});
