import { onEachBackend, seededRandom } from '@altstream/cuda-runtime/testing';
import { describe, expect, it } from 'vitest';
import { Engine, type GenerationEvent } from '../src/index.js';
import { collect, counted, countingModel, ids, vocab } from './makers/counting.js';
import { modelOfSuite } from './makers/model-of-suite.js';
import { settledStats } from './makers/settled-stats.js';

/** A request drawn at random, and what must come of it. */
interface Drawn {
  readonly prompt: readonly number[];
  readonly maxTokens: number;
  readonly wantsPrompt: boolean;
  /** Milliseconds until it is given up; undefined = never. */
  readonly abortMs: number | undefined;
  readonly waitMs: number;
  readonly salt: string | undefined;
}

/** What prompts begin with, so that they share pages. */
const heads = [0, 9, 14, 21].map((length, head) =>
  Array.from({ length }, (_, index) => (head * 5 + index) % vocab),
);

function draw(seed: number, count: number): Drawn[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => ({
    prompt: [
      ...(heads[random.integer(0, heads.length)] ?? []),
      ...Array.from({ length: random.integer(1, 30) }, () => random.integer(0, vocab)),
    ],
    salt: random.integer(0, 8) === 0 ? 'apart' : undefined,
    maxTokens: random.integer(1, 20),
    wantsPrompt: random.integer(0, 5) === 0,
    abortMs: random.integer(0, 4) === 0 ? random.integer(0, 30) : undefined,
    waitMs: random.integer(0, 200),
  }));
}

/** Prompt first, then tokens, then one finish. */
function checkOrder(events: readonly GenerationEvent[]): void {
  const ranks = events.map(({ type }) => ['prompt', 'token', 'finish'].indexOf(type));
  expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
  expect(events.filter(({ type }) => type === 'finish')).toHaveLength(1);
  expect(events.filter(({ type }) => type === 'prompt').length).toBeLessThanOrEqual(1);
}

onEachBackend((backend) => {
  describe('two hundred random requests', () => {
    const suite = modelOfSuite(backend, (runtime) =>
      countingModel(runtime, { pageTokens: 4, maxPositions: 128 }),
    );

    it.each([1, 2])('get what they asked for and leave nothing behind (seed %i)', async (seed) => {
      const engine = await Engine.create({
        model: suite.model,
        checkLedger: true,
        pages: 45,
        maxSequences: 6,
        maxBatchedTokens: 13,
        maxPartialPrefills: 3,
        maxWaitingTokens: 10_000,
      });
      const flushing = setInterval(() => engine.flushPrefixCache(), 35);
      const serve = async (request: Drawn): Promise<void> => {
        const { prompt, maxTokens, wantsPrompt, abortMs, waitMs, salt } = request;
        await new Promise((resolve) => setTimeout(resolve, waitMs));
        const given = new AbortController();
        if (abortMs !== undefined) setTimeout(() => given.abort(), abortMs);
        const events = await collect(
          engine.generate(prompt, {
            temperature: 0,
            maxTokens,
            signal: given.signal,
            ...(wantsPrompt ? { promptLogprobs: 1 } : {}),
            ...(salt === undefined ? {} : { cacheSalt: salt }),
          }),
        );
        checkOrder(events);
        const last = events.at(-1);
        const expected = counted(prompt.at(-1) ?? 0, maxTokens);
        if (last?.type === 'finish' && last.reason === 'abort') {
          expect(abortMs).toBeDefined();
          expect(expected.slice(0, ids(events).length)).toEqual(ids(events));
          return;
        }
        expect(last).toMatchObject({ reason: 'length', generatedTokens: maxTokens });
        expect(ids(events)).toEqual(expected);
        const hasPrompt = events.some(({ type }) => type === 'prompt');
        expect(hasPrompt).toBe(wantsPrompt && prompt.length > 1);
      };
      await Promise.all(draw(seed, 200).map(serve));
      clearInterval(flushing);
      const { pages, running, waiting, graphs, prefixCache } = await settledStats(engine);
      expect(prefixCache.hits).toBeGreaterThan(0);
      expect([pages.pinned, pages.reserved, running, waiting]).toEqual([0, 0, 0, 0]);
      expect(graphs.eagerSteps).toBe(0);
      expect(engine.flushPrefixCache()).toBe(pages.evictable);
      expect(engine.stats().pages.free).toBe(pages.total);
      await engine.close();
    });
  });
});
