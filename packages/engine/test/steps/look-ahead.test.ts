import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { describe, expect, it } from 'vitest';
import { Engine, replaySchedule } from '../../src/index.js';
import { smoothModel } from '../makers/counting.js';
import { answer, drawRequests } from '../makers/mixed-requests.js';
import { modelOfSuite } from '../makers/model-of-suite.js';
import { settledStats } from '../makers/settled-stats.js';

onEachBackend((backend) => {
  describe('one step of look-ahead', () => {
    const suite = modelOfSuite(backend, (runtime) =>
      smoothModel(runtime, { pageTokens: 4, maxPositions: 128 }),
    );

    interface Workload {
      readonly seed: number;
      readonly pages: number;
      readonly graphSizes: readonly number[] | undefined;
      readonly hasGrammars: boolean;
      readonly logprobsMode?: 'raw' | 'processed';
    }

    /**
     * A row's token and its log-probability are sums over the vocabulary, which CUDA splits as the
     * number of rows says; look-ahead changes which rows share a step, so there the last bits of
     * the latter may differ.
     */
    function alike(events: Awaited<ReturnType<typeof answer>>[]): unknown {
      if (backend === 'cpu') return events;
      return events.map((answered) =>
        answered.map((event) =>
          event.type === 'token' ? { ...event, logprob: expect.closeTo(event.logprob, 5) } : event,
        ),
      );
    }

    async function serve(workload: Workload, lookAhead: boolean) {
      const { seed, pages, graphSizes, hasGrammars, logprobsMode = 'raw' } = workload;
      const lines: string[] = [];
      const engine = await Engine.create({
        model: suite.model,
        lookAhead,
        logprobsMode,
        pages,
        maxSequences: 6,
        maxBatchedTokens: 13,
        maxWaitingTokens: 10_000,
        checkLedger: true,
        tokenBytes: (id) => Buffer.from([97 + (id % 26)]),
        onTrace: (line) => lines.push(line),
        ...(graphSizes ? { graphSizes } : {}),
      });
      const requests = drawRequests(seed, 60, hasGrammars);
      const events = await Promise.all(requests.map((request) => answer(engine, request)));
      const stats = await settledStats(engine);
      await engine.close();
      return { events, stats, trace: lines.join('\n') };
    }

    it.each([
      { seed: 1, pages: 60, graphSizes: undefined, hasGrammars: false },
      { seed: 2, pages: 16, graphSizes: undefined, hasGrammars: false },
      { seed: 3, pages: 16, graphSizes: [], hasGrammars: false },
      { seed: 4, pages: 16, graphSizes: [3, 6], hasGrammars: true },
      { seed: 5, pages: 60, graphSizes: undefined, hasGrammars: true },
      { seed: 6, pages: 16, graphSizes: undefined, hasGrammars: false, logprobsMode: 'processed' },
      { seed: 7, pages: 16, graphSizes: [3, 6], hasGrammars: true, logprobsMode: 'processed' },
    ] as const)('changes no event of any request: %o', async (workload: Workload) => {
      const [off, on] = [await serve(workload, false), await serve(workload, true)];
      expect(on.events).toEqual(alike(off.events));
      expect(replaySchedule(on.trace).difference).toBeUndefined();
      expect(replaySchedule(off.trace).difference).toBeUndefined();
      const { lookAhead, scheduling, steps, pages } = on.stats;
      expect([pages.pinned, pages.reserved]).toEqual([0, 0]);
      expect(lookAhead.aheadSteps).toBeGreaterThan(steps / (workload.hasGrammars ? 20 : 3));
      expect(lookAhead.discardedTokens).toBeGreaterThan(0);
      expect(lookAhead.waits.grammar > 0).toBe(workload.hasGrammars);
      expect(lookAhead.waits.pages > 0).toBe(workload.pages < 20);
      expect(scheduling.preemptions > 0).toBe(workload.pages < 20);
      expect(off.stats.lookAhead).toMatchObject({ isEnabled: false, aheadSteps: 0 });
    });
  });
});
