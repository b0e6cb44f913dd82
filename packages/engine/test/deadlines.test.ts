import { open, type Runtime } from '@altstream/cuda-runtime';
import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DeadlineError, Engine, type EngineOptions, type MarkovModel } from '../src/index.js';
import { collect, counted, countingModel, ids } from './makers/counting.js';
import { until } from './makers/until.js';
import { WatchedModel } from './makers/watched-model.js';

onEachBackend((backend) => {
  describe('time and turns', () => {
    let runtime: Runtime;
    let counting: MarkovModel;
    let model: WatchedModel;
    let engine: Engine | undefined;
    let nowMs = 0;

    beforeAll(async () => {
      runtime = await open({ backend });
      counting = await countingModel(runtime, { pageTokens: 4, maxPositions: 256 });
      model = new WatchedModel(counting);
    });
    afterEach(async () => {
      await engine?.close();
      const { pages } = engine?.stats() ?? {};
      expect([pages?.pinned, pages?.reserved]).toEqual([0, 0]);
    });
    afterAll(async () => {
      counting.dispose();
      await runtime.dispose();
    });

    /** An engine whose every step takes 10 ms of a clock that only steps move. */
    async function start(options: Partial<EngineOptions> = {}): Promise<Engine> {
      nowMs = 0;
      model.before = () => {
        nowMs += 10;
      };
      engine = await Engine.create({
        model,
        pages: 64,
        graphSizes: [],
        maxSequences: 1,
        checkLedger: true,
        now: () => nowMs,
        ...options,
      });
      return engine;
    }

    it('a request that finds no place in time ends in an error, and leaves the others alone', async () => {
      const made = await start({ queueTimeoutMs: 100 });
      const first = collect(made.generate([3], { temperature: 0, maxTokens: 40 }));
      const second = await collect(made.generate([5], { temperature: 0, maxTokens: 2 }));
      const [finish] = second;
      expect(second).toHaveLength(1);
      expect(finish).toMatchObject({
        reason: 'error',
        error: { code: 'ENGINE_DEADLINE', stage: 'queue' },
      });
      expect(finish?.type === 'finish' && finish.error?.message).toMatch(
        /waited 1\d0 ms .* of 100 at most/,
      );
      expect(ids(await first)).toEqual(counted(3, 40));
      expect(made.stats().scheduling.expired).toBe(1);
    });

    it('a request has the time that it was given, and keeps what it had by then', async () => {
      const made = await start();
      const events = await collect(
        made.generate([3], { temperature: 0, maxTokens: 100, timeoutMs: 75 }),
      );
      expect(ids(events)).toEqual(counted(3, 8));
      const finish = events.at(-1);
      expect(finish).toMatchObject({ reason: 'error', generatedTokens: 8 });
      expect(finish?.type === 'finish' && finish.error).toBeInstanceOf(DeadlineError);
      expect(finish?.type === 'finish' && finish.error).toMatchObject({ stage: 'request' });
    });

    it('the time of a request runs while it waits', async () => {
      const made = await start();
      const first = collect(made.generate([3], { temperature: 0, maxTokens: 30 }));
      const second = await collect(made.generate([5], { timeoutMs: 50 }));
      expect(second).toMatchObject([{ reason: 'error', error: { stage: 'request' } }]);
      await first;
    });

    it('priority decides who is next, and is refused where it decides nothing', async () => {
      const plain = await start();
      expect(() => plain.generate([1], { priority: 1 })).toThrow(
        /`priority` is 1, expected 0, unless the scheduling policy is 'priority'/,
      );
      await plain.close();
      const made = await start({ schedulingPolicy: 'priority' });
      const order: string[] = [];
      const run = async (name: string, priority: number): Promise<void> => {
        await collect(made.generate([1], { temperature: 0, maxTokens: 3, priority }));
        order.push(name);
      };
      const running = run('running', 9);
      await new Promise((resolve) => setImmediate(resolve));
      await Promise.all([running, run('late', 5), run('soon', -5), run('middle', 0)]);
      expect(order).toEqual(['running', 'soon', 'middle', 'late']);
    });

    it('a reader that is behind gets no new prompts, one that is stuck gets nothing', async () => {
      const made = await start({ maxSequences: 2 });
      const first = collect(made.generate([3], { temperature: 0, maxTokens: 200 }));
      await until(() => made.stats().generatedTokens >= 3);
      made.setBacklog('behind');
      const second = collect(made.generate([5], { temperature: 0, maxTokens: 2 }));
      const before = made.stats().generatedTokens;
      await until(() => made.stats().generatedTokens >= before + 5);
      expect(made.stats()).toMatchObject({ running: 1, waiting: 1 });
      made.setBacklog('stuck');
      await new Promise((done) => setTimeout(done, 20));
      const { steps } = made.stats();
      await new Promise((done) => setTimeout(done, 30));
      expect(made.stats().steps).toBe(steps);
      made.setBacklog('none');
      expect(ids(await second)).toEqual(counted(5, 2));
      expect(ids(await first)).toEqual(counted(3, 200));
    });

    it('an abort and a deadline count also while the reader is stuck', async () => {
      const made = await start({ maxSequences: 2, now: () => performance.now() });
      const given = new AbortController();
      const aborted = collect(made.generate([3], { maxTokens: 200, signal: given.signal }));
      const late = collect(made.generate([3], { maxTokens: 200, timeoutMs: 60 }));
      made.setBacklog('stuck');
      given.abort();
      expect((await aborted).at(-1)).toMatchObject({ reason: 'abort' });
      expect((await late).at(-1)).toMatchObject({ reason: 'error', error: { stage: 'request' } });
    });
  });
});
