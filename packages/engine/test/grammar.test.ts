import { open, type Runtime, type Stream } from '@altstream/cuda-runtime';
import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  Engine,
  type EngineOptions,
  type GenerationParameters,
  type MarkovModel,
} from '../src/index.js';
import { collect, counted, countingModel, ids, smoothModel, vocab } from './makers/counting.js';
import { type Allowed, ListMatcher } from './makers/list-matcher.js';
import { settledStats } from './makers/settled-stats.js';

onEachBackend((backend) => {
  describe('a request with a grammar', () => {
    let runtime: Runtime;
    let counting: MarkovModel;
    let smooth: MarkovModel;
    let paged: MarkovModel;
    const engines: Engine[] = [];

    beforeAll(async () => {
      runtime = await open({ backend });
      counting = await countingModel(runtime);
      smooth = await smoothModel(runtime);
      paged = await smoothModel(runtime, { pageTokens: 4, maxPositions: 128 });
    });
    afterAll(async () => {
      for (const engine of engines) await engine.close();
      for (const model of [counting, smooth, paged]) model.dispose();
      await runtime.dispose();
    });

    async function start(options: Partial<EngineOptions> = {}): Promise<Engine> {
      const engine = await Engine.create({ model: counting, checkLedger: true, ...options });
      engines.push(engine);
      return engine;
    }
    const matcher = (...lists: Allowed[]): ListMatcher => new ListMatcher(vocab, lists);

    it('takes only what its matcher allows, from the first token on, and ends with it', async () => {
      const engine = await start();
      const grammar = matcher([9], [10, 20], 'any', [31], [0, 1]);
      const events = await collect(engine.generate([3], { temperature: 0, grammar }));
      // 9 instead of 4, then 10 as it comes, 11 freely, 31 instead of 12, 0 as it comes
      expect(ids(events)).toEqual([9, 10, 11, 31, 0]);
      expect(events.at(-1)).toMatchObject({ reason: 'stop', generatedTokens: 5 });
      expect(grammar.accepted).toEqual([9, 10, 11, 31, 0]);
      expect(grammar.disposed).toBe(1);
    });

    it('leaves the other rows of its steps as they are, in any batch', async () => {
      const engine = await start({ maxSequences: 24, maxBatchedTokens: 7 });
      const jobs = Array.from({ length: 40 }, (_, index) => {
        const lists = Array.from({ length: 3 + (index % 4) }, (_, n) => [(index + 7 * n) % vocab]);
        const grammar = index % 3 === 2 ? undefined : matcher(...lists);
        const parameters = { temperature: 0, maxTokens: 10, ...(grammar ? { grammar } : {}) };
        const expected = grammar ? lists.flat() : counted(index % vocab, 10);
        return { expected, events: collect(engine.generate([index % vocab], parameters)) };
      });
      for (const { expected, events } of jobs) expect(ids(await events)).toEqual(expected);
      const { pages, graphs } = await settledStats(engine);
      expect(pages.free).toBe(pages.total);
      expect(graphs.eagerSteps).toBe(0);
    });

    it('draws among the allowed ids as its seed says, with and without graphs', async () => {
      const lists = Array.from({ length: 12 }, (_, n) => [n, n + 5, n + 11, n + 18]);
      const run = async (options: Partial<EngineOptions>): Promise<number[]> => {
        const engine = await start({ model: smooth, maxSequences: 4, ...options });
        const others = [1, 2].map((id) => collect(engine.generate([id], { maxTokens: 30 })));
        const parameters = { seed: 7, temperature: 1.5, grammar: matcher(...lists) };
        const drawn = ids(await collect(engine.generate([5], parameters)));
        await Promise.all(others);
        return drawn;
      };
      const drawn = await run({});
      expect(drawn.every((id, n) => lists[n]?.includes(id))).toBe(true);
      expect(new Set(drawn.map((id, n) => id - n)).size).toBeGreaterThan(1);
      expect(await run({ graphSizes: [] })).toEqual(drawn);
    });

    it('reports log-probabilities under the model', async () => {
      const engine = await start({ model: smooth });
      const free = { temperature: 0, maxTokens: 2, logprobs: 20 };
      const [plain] = await collect(engine.generate([5], free));
      const other = plain?.type === 'token' ? plain.top[7] : undefined;
      const grammar = matcher([other?.id ?? -1]);
      const [token] = await collect(engine.generate([5], { ...free, grammar }));
      expect(token).toMatchObject({ id: other?.id, top: plain?.type === 'token' && plain.top });
      expect(token?.type === 'token' && token.logprob).toBeCloseTo(other?.logprob ?? 0, 6);
    });

    it('counts what it took for its penalties, and ends where a ban leaves nothing', async () => {
      const engine = await start();
      const lists = [[5], [5, 6], [5, 6], [5, 7], 'any', 'any'] as const;
      const penalised = { temperature: 0, maxTokens: 6, presencePenalty: 2 };
      const events = await collect(
        engine.generate([3], { ...penalised, grammar: matcher(...lists) }),
      );
      // 5 by force, 6 as the model has it; 5 and 6 are equally unlikely behind 6, so 5; 7 is new, 5
      // is not
      expect(ids(events).slice(0, 4)).toEqual([5, 6, 5, 7]);
      const banned = { temperature: 0, minTokens: 9, stopTokenIds: [8] };
      const grammar = matcher([5], [8]);
      const short = await collect(engine.generate([3], { ...banned, grammar }));
      expect(ids(short)).toEqual([5]);
      expect(short.at(-1)).toMatchObject({ reason: 'stop' });
    });

    it('ends alone when its matcher fails', async () => {
      const engine = await start();
      const broken = matcher([5], new Error('no more memory'));
      const short = Object.assign(matcher([5]), { mask: async () => new Int32Array(7) });
      const requests = [broken, short, undefined].map((grammar) =>
        collect(
          engine.generate([3], { temperature: 0, maxTokens: 6, ...(grammar && { grammar }) }),
        ),
      );
      const [first = [], second = [], third = []] = await Promise.all(requests);
      const code = 'ENGINE_GRAMMAR';
      expect(ids(first)).toEqual([5]);
      expect(first.at(-1)).toMatchObject({ reason: 'error', error: { code } });
      expect(second.at(-1)).toMatchObject({ reason: 'error', error: { code } });
      expect(ids(third)).toEqual(counted(3, 6));
      expect([broken.disposed, short.disposed]).toEqual([1, 1]);
    });

    it('costs steps without grammars nothing: not one launch beside their graphs', async () => {
      const engine = await start();
      const stream = runtime.device().createStream();
      const launch = vi.spyOn(Object.getPrototypeOf(stream) as Stream, 'launch');
      stream.dispose();
      const launches = async (parameters: GenerationParameters): Promise<string[]> => {
        launch.mockClear();
        await collect(engine.generate([3], { temperature: 0, ...parameters }));
        return launch.mock.calls.map(([kernel]) => kernel.name);
      };
      const [short, long] = [await launches({ maxTokens: 2 }), await launches({ maxTokens: 40 })];
      expect(short.length).toBeGreaterThan(0);
      expect(short).not.toContain('mask_logits_f32');
      // 38 decode steps more, all of them within their graphs
      expect(long).toEqual(short);
      const bound = await launches({ grammar: matcher([5], 'any', [9], 'any', [11]) });
      expect(bound.filter((name) => name === 'mask_logits_f32')).toHaveLength(3);
      launch.mockRestore();
    });

    it('goes on where it was when it is preempted', async () => {
      const lists = (index: number) =>
        Array.from({ length: 24 }, (_, n) => [(index + n) % vocab, (index + 3 * n + 1) % vocab]);
      const run = async (pages: number) => {
        const engine = await start({ model: paged, pages, maxSequences: 6, maxBatchedTokens: 16 });
        const matchers = Array.from({ length: 6 }, (_, index) => matcher(...lists(index)));
        const answers = matchers.map((grammar, index) =>
          collect(
            engine.generate([index, 7], { seed: index, temperature: 1, maxTokens: 30, grammar }),
          ),
        );
        const drawn = (await Promise.all(answers)).map(ids);
        // Each token was told once, however often it was computed.
        expect(matchers.map(({ accepted }) => accepted)).toEqual(drawn);
        return { drawn, preemptions: engine.stats().scheduling.preemptions };
      };
      const roomy = await run(64);
      const tight = await run(14);
      expect(roomy.preemptions).toBe(0);
      expect(tight.preemptions).toBeGreaterThan(0);
      expect(tight.drawn).toEqual(roomy.drawn);
    });

    it('gives its matcher back when it is aborted', async () => {
      const engine = await start();
      const grammar = new ListMatcher(
        vocab,
        Array.from({ length: 900 }, () => [1, 2, 3]),
      );
      for await (const event of engine.generate([1], { grammar })) {
        if (event.type === 'token') break;
      }
      await collect(engine.generate([1], { maxTokens: 3 }));
      expect(grammar.disposed).toBe(1);
    });
  });
});
