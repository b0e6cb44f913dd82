import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { describe, expect, it } from 'vitest';
import {
  Engine,
  type EngineOptions,
  type GenerationEvent,
  type GenerationParameters,
} from '../../src/index.js';
import { collect, smoothModel } from '../makers/counting.js';
import { modelOfSuite } from '../makers/model-of-suite.js';
import { settledStats } from '../makers/settled-stats.js';

const penalties = { frequencyPenalty: 0.4, repetitionPenalty: 1.1, logprobs: 1 };
const kinds: readonly (readonly [string, GenerationParameters])[] = [
  ['greedily', { temperature: 0 }],
  ['sampled', { temperature: 0.9, topK: 20, topP: 0.95 }],
  ['with penalties', { temperature: 1, ...penalties }],
];

onEachBackend((backend) => {
  describe('the tokens of a request', () => {
    const suite = modelOfSuite(backend, (runtime) =>
      smoothModel(runtime, { pageTokens: 4, maxPositions: 128 }),
    );

    async function withEngine<T>(
      options: Partial<EngineOptions>,
      use: (engine: Engine) => Promise<T>,
    ): Promise<T> {
      const engine = await Engine.create({
        model: suite.model,
        checkLedger: true,
        pages: 600,
        ...options,
      });
      return use(engine).finally(() => engine.close());
    }
    const answer = (engine: Engine, seed: number, given: GenerationParameters) =>
      collect(engine.generate([seed % 32, 7, 9], { maxTokens: 40, seed, ...given }));
    /** What cannot depend on others: all but what the prefix cache found. */
    const essence = (events: readonly GenerationEvent[]): unknown[] =>
      events.map((event) => (event.type === 'token' ? [event.id, event.logprob] : event.type));

    it.each(kinds)(
      'C37: of one seed are the same alone, among 64, and after preemptions (%s)',
      async (_, given) => {
        const alone = await withEngine({ maxSequences: 1 }, (engine) => answer(engine, 3, given));
        const among = await withEngine({ maxSequences: 64 }, async (engine) => {
          const all = Array.from({ length: 64 }, (__, seed) =>
            answer(engine, seed, seed % 3 === 0 ? given : { temperature: 0.7 }),
          );
          return (await Promise.all(all))[3];
        });
        const squeezed = await withEngine({ maxSequences: 6, pages: 24 }, async (engine) => {
          const all = [0, 1, 2, 3, 4, 5].map((seed) => answer(engine, seed, given));
          const events = await Promise.all(all);
          expect(engine.stats().scheduling.preemptions).toBeGreaterThan(0);
          return events[3];
        });
        expect(essence(among ?? [])).toEqual(essence(alone));
        expect(essence(squeezed ?? [])).toEqual(essence(alone));
        const { id: first } = alone.find((event) => event.type === 'token') ?? {};
        expect(first).toBeTypeOf('number');
      },
    );

    it('C36: are the same however often it loses its place, and whoever is given up meanwhile', async () => {
      const given = { temperature: 0.9, ...penalties };
      const ask = (pages: number, gone: readonly number[]) =>
        withEngine({ maxSequences: 10, pages, maxBatchedTokens: 12 }, async (engine) => {
          const all = Array.from({ length: 10 }, (_, seed) => {
            const stop = new AbortController();
            if (gone.includes(seed)) setTimeout(() => stop.abort(), 1 + seed / 2);
            return answer(engine, seed, { ...given, signal: stop.signal });
          });
          const events = await Promise.all(all);
          const { scheduling, pages: left } = await settledStats(engine);
          expect([left.pinned, left.reserved]).toEqual([0, 0]);
          return { events, preemptions: scheduling.preemptions };
        });
      const wide = await ask(200, []);
      expect(wide.preemptions).toBe(0);
      let preemptions = 0;
      for (const pages of [12, 13, 14, 16, 19, 24, 32]) {
        const gone = pages % 2 === 0 ? [] : [1, 4, 8];
        const narrow = await ask(pages, gone);
        preemptions += narrow.preemptions;
        narrow.events.forEach((events, seed) => {
          const whole = essence(wide.events[seed] ?? []);
          const isCut = events.at(-1)?.type === 'finish' && gone.includes(seed);
          const own = essence(events);
          expect(isCut ? own.slice(0, -1) : own).toEqual(
            isCut ? whole.slice(0, own.length - 1) : whole,
          );
        });
      }
      expect(preemptions).toBeGreaterThan(40);
    });
  });
});
