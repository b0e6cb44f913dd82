import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { describe, expect, it } from 'vitest';
import { Engine, type GenerationEvent, replaySchedule } from '../src/index.js';
import { collect, smoothModel } from './makers/counting.js';
import { modelOfSuite } from './makers/model-of-suite.js';
import { settledStats } from './makers/settled-stats.js';

onEachBackend((backend) => {
  describe('preemption', () => {
    const suite = modelOfSuite(backend, (runtime) =>
      smoothModel(runtime, { pageTokens: 4, maxPositions: 128 }),
    );

    /** Answers of six sampled requests, by the pages that they share. */
    async function answers(pages: number, graphSizes?: readonly number[]) {
      const lines: string[] = [];
      const engine = await Engine.create({
        model: suite.model,
        pages,
        maxSequences: 6,
        maxBatchedTokens: 16,
        checkLedger: true,
        onTrace: (line) => lines.push(line),
        ...(graphSizes ? { graphSizes } : {}),
      });
      const events = await Promise.all(
        Array.from({ length: 6 }, (_, index) => {
          const parameters = {
            seed: index,
            temperature: 0.9,
            topK: 12,
            maxTokens: 30,
            logprobs: 2,
          };
          const changes = {
            frequencyPenalty: 0.5,
            repetitionPenalty: 1.2,
            logitBias: new Map([[index, 1]]),
          };
          const changed = index % 3 === 0 ? {} : changes;
          const wantsPrompt = index % 2 === 0 ? { promptLogprobs: 1 } : {};
          return collect(
            engine.generate([index, 7, 9], { ...parameters, ...changed, ...wantsPrompt }),
          );
        }),
      );
      const { scheduling, pages: left } = await settledStats(engine);
      await engine.close();
      expect([left.free + left.evictable, left.reserved]).toEqual([pages, 0]);
      return { events, preemptions: scheduling.preemptions, trace: lines.join('\n') };
    }

    it.each([
      ['through graphs', undefined],
      ['eagerly', []],
    ])(
      'gives the tokens and log-probabilities of a pool that is large enough, %s',
      async (_, sizes) => {
        const wide = await answers(60, sizes);
        const narrow = await answers(14, sizes);
        expect(wide.preemptions).toBe(0);
        expect(narrow.preemptions).toBeGreaterThan(0);
        expect(narrow.events).toEqual(wide.events);
        const counts = narrow.events.map((events: readonly GenerationEvent[]) => events.length);
        expect(counts).toEqual([32, 31, 32, 31, 32, 31]);
      },
    );

    it('is in the trace, and a replay without the model decides the same', async () => {
      const { trace, preemptions } = await answers(14);
      const report = replaySchedule(trace);
      expect(report.difference).toBeUndefined();
      const preempted = [...trace.matchAll(/"preempted":\[([\d,]+)\]/g)].flatMap(([, ids = '']) =>
        ids.split(','),
      );
      expect(preempted).toHaveLength(preemptions);
    });
  });
});
