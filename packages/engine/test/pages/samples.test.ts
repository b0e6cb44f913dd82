import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { describe, expect, it } from 'vitest';
import {
  Engine,
  type EngineOptions,
  type GenerationEvent,
  type GenerationParameters,
  replaySchedule,
} from '../../src/index.js';
import { collect, smoothModel } from '../makers/counting.js';
import { ListMatcher } from '../makers/list-matcher.js';
import { modelOfSuite } from '../makers/model-of-suite.js';
import { WatchedModel } from '../makers/watched-model.js';

const prompt = Array.from({ length: 11 }, (_, index) => (index * 5 + 2) % 32);

onEachBackend((backend) => {
  describe('samples of one prompt', () => {
    const suite = modelOfSuite(backend, (runtime) =>
      smoothModel(runtime, { pageTokens: 4, maxPositions: 128 }),
    );

    async function serve(
      options: Partial<EngineOptions>,
      use: (engine: Engine, seen: { copies: number[][] }) => Promise<void>,
    ): Promise<void> {
      const model = new WatchedModel(suite.model);
      const seen = { copies: [] as number[][] };
      model.copied = (from, to) => seen.copies.push([from, to]);
      const lines: string[] = [];
      const engine = await Engine.create({
        model,
        pages: 80,
        maxSequences: 8,
        itlTargetMs: 0, // a slow moment would cut prompts into other pieces
        checkLedger: true,
        onTrace: (line) => lines.push(line),
        ...options,
      });
      await use(engine, seen).finally(() => engine.close());
      expect(replaySchedule(lines.join('\n')).difference).toBeUndefined();
      expect(engine.stats().pages).toMatchObject({ pinned: 0, reserved: 0 });
    }
    const sample = (engine: Engine, seed: number, given: GenerationParameters = {}) =>
      collect(engine.generate(prompt, { seed, maxTokens: 9, temperature: 0.9, ...given }));
    const cached = (events: readonly GenerationEvent[]) => {
      const last = events.at(-1);
      return last?.type === 'finish' && last.cachedTokens;
    };

    it('take one pass over the prompt, and a copy of its last page each but the first', async () => {
      await serve({}, async (engine, { copies }) => {
        const all = await Promise.all([1, 2, 3, 4].map((seed) => sample(engine, seed)));
        // Of the three others only the last token is computed, which shows what comes next.
        expect(engine.stats().promptTokens).toBe(prompt.length + 3);
        expect(all.map(cached)).toEqual([0, 10, 10, 10]);
        expect(copies).toHaveLength(3);
        // All copies are of the page where the first one goes on, each to a page of its own.
        expect(new Set(copies.map(([from]) => from)).size).toBe(1);
        expect(new Set(copies.map(([, to]) => to)).size).toBe(3);
      });
    });

    it('each start once, for whoever looks on', async () => {
      const pieces: [number, number][] = [];
      const none = () => undefined;
      const prefill = (id: number, tokens: number) => pieces.push([id, tokens]);
      const watch = { prefill, planned: none, computed: none };
      await serve({ watch }, async (engine) => {
        await Promise.all([1, 2, 3].map((seed) => sample(engine, seed)));
      });
      expect(pieces).toEqual([
        [1, prompt.length],
        [2, 0],
        [3, 0],
      ]);
    });

    it('need no copy when they are over with their first token', async () => {
      await serve({}, async (engine, { copies }) => {
        const once = { maxTokens: 1 };
        await Promise.all([1, 2, 3, 4, 5].map((seed) => sample(engine, seed, once)));
        expect([engine.stats().promptTokens, copies.length]).toEqual([prompt.length + 4, 0]);
      });
    });

    it('may join while another is being generated, and the last one writes in place', async () => {
      await serve({ lookAhead: false }, async (engine, { copies }) => {
        const nine = prompt.slice(0, 9);
        await new Promise<void>((resolve) => {
          const first = engine.submit(nine, { seed: 1 }, (event) => {
            if (event.type !== 'token' || engine.stats().generatedTokens > 1) return;
            engine.submit(nine, { seed: 2, maxTokens: 5 }, ({ type }) => {
              // The page's first owner goes before this one writes to it.
              if (type === 'token') first.abort();
              else resolve();
            });
          });
        });
        expect([engine.stats().promptTokens, copies.length]).toEqual([nine.length + 1, 0]);
      });
    });

    it('are apart with another salt, and computed whole where its log-probabilities are wanted', async () => {
      await serve({}, async (engine, { copies }) => {
        const wants = [{ cacheSalt: 'a' }, { cacheSalt: 'b' }, { promptLogprobs: 1 }];
        const all = await Promise.all(wants.map((given) => sample(engine, 1, given)));
        expect(all.map(cached)).toEqual([0, 0, 0]);
        expect([engine.stats().promptTokens, copies.length]).toEqual([3 * prompt.length, 0]);
      });
    });

    it('each obey their own grammar and penalties, as alone', async () => {
      const given = (seed: number): GenerationParameters =>
        seed % 2 === 0
          ? { frequencyPenalty: 1, repetitionPenalty: 1.3 }
          : { grammar: new ListMatcher(32, [[seed, 9], [4, 5, seed], 'any', [seed], [7, 8], [1]]) };
      const tokens = (events: readonly GenerationEvent[]) =>
        events.map((event) => (event.type === 'token' ? [event.id, event.logprob] : event.type));
      const alone: unknown[] = [];
      await serve({ maxSequences: 1, prefixCaching: false }, async (engine) => {
        for (const seed of [1, 2, 3, 4])
          alone.push(tokens(await sample(engine, seed, given(seed))));
      });
      await serve({}, async (engine) => {
        const all = await Promise.all(
          [1, 2, 3, 4].map((seed) => sample(engine, seed, given(seed))),
        );
        expect(all.map(tokens)).toEqual(alone);
        expect(engine.stats().promptTokens).toBe(prompt.length + 3);
      });
    });
  });
});
