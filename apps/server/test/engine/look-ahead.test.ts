import { onEachBackend, seededRandom } from '@altstream/cuda-runtime/testing';
import { Engine, type GenerationEvent, type GenerationParameters } from '@altstream/engine';
import { describe, expect, it } from 'vitest';
import { modelOfSuite } from './model-of-suite.js';

/** Requests that begin alike, stop at tokens that come early, and have penalties. */
function drawRequests(seed: number, count: number) {
  const random = seededRandom(seed);
  const someIds = (n: number): number[] =>
    Array.from({ length: n }, () => 3 + random.integer(0, 190));
  const heads = [0, 17, 26].map(someIds);
  return Array.from({ length: count }, (_, index) => {
    const prompt = [...(heads[random.integer(0, 3)] ?? []), ...someIds(random.integer(1, 30))];
    const parameters: GenerationParameters = {
      seed: index,
      temperature: index % 2,
      logprobs: 3,
      maxTokens: random.integer(1, 45),
      stopTokenIds: someIds(6),
      ...(index % 3 === 0 ? { presencePenalty: 1.5, repetitionPenalty: 1.2 } : {}),
    };
    return { prompt, parameters, abortAt: index % 7 === 0 ? random.integer(1, 9) : undefined };
  });
}

onEachBackend((backend) => {
  describe('MiniMax-M3 with a step of look-ahead', () => {
    const model = modelOfSuite(backend);

    /** Answers with log-probabilities, without what depends on the prefix cache. */
    async function serve(seed: number, pages: number, lookAhead: boolean) {
      const limits = {
        maxSequences: 5,
        maxModelLength: 96,
        maxBatchedTokens: 40,
        maxWaitingTokens: 10_000,
      };
      const engine = await Engine.create({
        model: model(),
        lookAhead,
        pages,
        checkLedger: true,
        ...limits,
      });
      const ask = async ({
        prompt,
        parameters,
        abortAt,
      }: ReturnType<typeof drawRequests>[number]) => {
        const events: GenerationEvent[] = [];
        for await (const event of engine.generate(prompt, parameters)) {
          events.push({ ...event, cachedTokens: 0 } as GenerationEvent);
          if (events.length === abortAt) break;
        }
        return events;
      };
      const events = await Promise.all(drawRequests(seed, 30).map(ask));
      await engine.close();
      return { events, stats: engine.stats() };
    }

    it.each([
      [1, 64],
      [2, 12],
      [3, 12],
    ])('gives the same bits as one step at a time (seed %i, %i pages)', async (seed, pages) => {
      const [off, on] = [await serve(seed, pages, false), await serve(seed, pages, true)];
      expect(on.events).toEqual(off.events);
      expect(on.stats.lookAhead.aheadSteps).toBeGreaterThan(on.stats.steps / 2);
      expect(on.stats.lookAhead.discardedTokens).toBeGreaterThan(0);
      expect(on.stats.prefixCache.hits).toBeGreaterThan(0);
      expect(on.stats.scheduling.preemptions > 0).toBe(pages < 20);
      expect([on.stats.pages.pinned, on.stats.pages.reserved]).toEqual([0, 0]);
    });
  });
});
