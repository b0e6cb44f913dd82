import { open, type Runtime } from '@altstream/cuda-runtime';
import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Engine, type EngineOptions, type MarkovModel } from '../../src/index.js';
import { collect, counted, countingModel, ids, vocab } from '../makers/counting.js';
import { settledStats } from '../makers/settled-stats.js';
import { WatchedModel } from '../makers/watched-model.js';

const promptOf = (length: number): number[] =>
  Array.from({ length }, (_, index) => (index * 7 + 3) % vocab);

onEachBackend((backend) => {
  describe('prompts that begin alike', () => {
    let runtime: Runtime;
    let counting: MarkovModel;
    let model: WatchedModel;
    /** Tokens of every pass that is not a replay. */
    let passes: number[];
    const engines: Engine[] = [];

    beforeAll(async () => {
      runtime = await open({ backend });
      counting = await countingModel(runtime, { pageTokens: 4 });
    });
    beforeEach(() => {
      passes = [];
      model = new WatchedModel(counting);
      model.before = ({ tokenIds }) => passes.push(tokenIds.elements);
    });
    afterAll(async () => {
      for (const engine of engines) await engine.close();
      counting.dispose();
      await runtime.dispose();
    });

    async function start(options: Partial<EngineOptions> = {}): Promise<Engine> {
      const engine = await Engine.create({ model, checkLedger: true, pages: 64, ...options });
      engines.push(engine);
      passes.length = 0;
      return engine;
    }

    const once = { temperature: 0, maxTokens: 1 };

    it('are computed once; the first token and the end say what was found', async () => {
      const engine = await start();
      const [first, second] = [promptOf(14), [...promptOf(13), 2]];
      await collect(engine.generate(first, once));
      const events = await collect(engine.generate(second, once));
      expect(passes).toEqual([14, 2]);
      expect(events).toMatchObject([
        { type: 'token', id: 3, cachedTokens: 12 },
        { type: 'finish', promptTokens: 14, cachedTokens: 12 },
      ]);
      expect(await settledStats(engine)).toMatchObject({
        promptTokens: 16,
        prefixCache: { queries: 28, hits: 12 },
        pages: { total: 64, free: 61, evictable: 3, pinned: 0, reserved: 0 },
      });
    });

    it('are computed once also when they come together', async () => {
      const engine = await start({ maxBatchedTokens: 8 });
      const twins = [1, 2, 3].map(() => collect(engine.generate(promptOf(22), once)));
      const all = await Promise.all(twins);
      expect(all.map(ids)).toEqual([1, 2, 3].map(() => counted(promptOf(22).at(-1) ?? 0, 1)));
      expect(passes.reduce((sum, tokens) => sum + tokens, 0)).toBe(22);
    });

    it('stay to be found when their request was given up, and with them what it generated', async () => {
      const engine = await start();
      const given = new AbortController();
      const generated: number[] = [];
      const events = engine.generate(promptOf(9), { temperature: 0, signal: given.signal });
      for await (const event of events) {
        if (event.type === 'token') generated.push(event.id);
        if (generated.length === 8) given.abort();
      }
      const history = [...promptOf(9), ...generated, 1];
      const last = (await collect(engine.generate(history, once))).at(-1);
      // The last token that was generated is never computed.
      const known = Math.floor((9 + generated.length - 1) / 4) * 4;
      expect(last).toMatchObject({ cachedTokens: known });
    });

    it('are computed anew with another salt, without the cache, and after a flush', async () => {
      const engine = await start();
      const off = await start({ prefixCaching: false });
      const found = async (on: Engine, cacheSalt?: string): Promise<unknown> => {
        const salt = cacheSalt === undefined ? {} : { cacheSalt };
        const last = (await collect(on.generate(promptOf(9), { ...once, ...salt }))).at(-1);
        return last?.type === 'finish' && last.cachedTokens;
      };
      const salts = [undefined, 'a', 'b', undefined, 'a', 'b'];
      const counts: unknown[] = [];
      for (const salt of salts) counts.push(await found(engine, salt));
      expect(counts).toEqual([0, 0, 0, 8, 8, 8]);
      await settledStats(engine);
      expect(engine.flushPrefixCache()).toBe(6);
      expect(await found(engine)).toBe(0);
      for (let time = 0; time < 2; time += 1) expect(await found(off)).toBe(0);
      expect(() => engine.generate([1], { cacheSalt: '' })).toThrow(/`cacheSalt` is "", expected/);
    });

    it('make room for others, the least used ones first', async () => {
      const engine = await start({ pages: 8 });
      const found = async (prompt: readonly number[]): Promise<unknown> => {
        const last = (await collect(engine.generate(prompt, once))).at(-1);
        await settledStats(engine);
        return last?.type === 'finish' && last.cachedTokens;
      };
      const [old, used, other] = [1, 2, 3].map((first) => [first, ...promptOf(12)]) as number[][];
      for (const prompt of [old, used]) await found(prompt ?? []);
      expect(await found(used ?? [])).toBe(12);
      expect(await found(other ?? [])).toBe(0);
      // Of the eight pages two were free; two of the oldest chain went, its tail first.
      expect([await found(used ?? []), await found(old ?? [])]).toEqual([12, 4]);
    });
  });
});
