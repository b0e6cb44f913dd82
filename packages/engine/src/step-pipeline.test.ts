import { describe, expect, it } from 'vitest';
import { makeScheduler } from '../test/makers/scheduling.js';
import { makeSequence } from '../test/makers/sequence.js';
import { DeadlineError, StepError } from './errors/index.js';
import type { GenerationEvent } from './generation-event.js';
import type { PrefillResult } from './parts/engine-parts.js';
import { completesPrompt } from './scheduler/batch.js';
import { StepPipeline } from './step-pipeline.js';

/** A part of a step on a device that does nothing until it is told. */
interface Work {
  readonly ids: readonly number[];
  end(tokens: readonly number[]): void;
  fail(error: Error): void;
}

const tokensOf = (ids: readonly number[]) => ({ ids, logprobs: ids.map(() => -1) });
const turn = () => new Promise((resolve) => setImmediate(resolve));

function makePipeline(pages: number, lookAhead = true) {
  const made = makeScheduler(pages, { maxBatchedTokens: 16 });
  const work: Work[] = [];
  const clock = { nowMs: 0, forgotten: 0, refuse: undefined as Error | undefined };
  const launch = <T>(ids: readonly number[], result: (tokens: readonly number[]) => T) => {
    if (clock.refuse) throw clock.refuse;
    return new Promise<T>((resolve, reject) => {
      work.push({ ids, end: (tokens) => resolve(result(tokens)), fail: reject });
    });
  };
  const steps = new StepPipeline({
    scheduler: made.scheduler,
    lookAhead,
    now: () => clock.nowMs,
    decode: {
      launch: (sequences) =>
        launch(
          sequences.map(({ id }) => id),
          (tokens) => tokensOf(tokens),
        ),
      forget: () => {
        clock.forgotten += 1;
      },
    },
    prefill: {
      launch: (pieces) =>
        launch<PrefillResult>(
          pieces.filter(completesPrompt).map(({ sequence }) => sequence.id),
          (tokens) => ({ first: tokensOf(tokens), reports: [] }),
        ),
      forget: () => undefined,
    },
  });
  /** What the engine does between two steps. */
  const go = (): Promise<void> => {
    made.check();
    const batch = made.scheduler.next(clock.nowMs);
    return batch ? steps.advance(batch) : steps.settle();
  };
  const add = (given: Parameters<typeof makeSequence>[0]) => {
    const sequence = makeSequence(given);
    made.scheduler.add(sequence.sequence, clock.nowMs);
    return sequence;
  };
  return { ...made, steps, work, clock, go, add };
}

const ids = (events: readonly GenerationEvent[]) =>
  events.flatMap((event) => (event.type === 'token' ? [event.id] : []));

describe('the step pipeline', () => {
  it('launches a step before the tokens of the one before are there, and one at a time without', async () => {
    for (const lookAhead of [true, false]) {
      const { go, work, add, steps } = makePipeline(8, lookAhead);
      const { events } = add({ promptTokens: 3, maxTokens: 3 });
      const first = go();
      await turn();
      const second = lookAhead ? go() : undefined;
      expect(work).toHaveLength(lookAhead ? 2 : 1);
      expect(ids(events)).toEqual([]);
      work[0]?.end([5]);
      await Promise.all([first, second]);
      expect(ids(events)).toEqual([5]);
      expect(steps.describe().aheadSteps).toBe(lookAhead ? 1 : 0);
    }
  });

  it('launches no row for a sequence whose last token is on its way', async () => {
    const { go, work, add, steps, pool } = makePipeline(8);
    const { events } = add({ promptTokens: 3, maxTokens: 1 });
    await go();
    const last = go();
    work[0]?.end([5]);
    await last;
    await go();
    expect(work).toHaveLength(1);
    expect(events).toMatchObject([{ id: 5 }, { reason: 'length', generatedTokens: 1 }]);
    expect(steps.describe().discardedTokens).toBe(0);
    expect(pool.free).toBe(8);
  });

  it('discards the row that was launched before a stop token was known, and frees its page after it', async () => {
    const { go, work, add, steps, pool, scheduler, check } = makePipeline(8);
    const { events } = add({ promptTokens: 4, maxTokens: 9, parameters: { stopTokenIds: [7] } });
    await go();
    const second = go();
    work[0]?.end([7]);
    await second;
    expect(events).toMatchObject([{ reason: 'stop', stop: 7, generatedTokens: 1 }]);
    // The second page is for the position that is computed in vain.
    expect(scheduler.next(0)).toBeUndefined();
    expect([scheduler.running, pool.pinned]).toEqual([0, 2]);
    check();
    const third = steps.settle();
    work[1]?.end([9]);
    await third;
    scheduler.next(0);
    check();
    expect([pool.pinned, pool.free]).toEqual([0, 8]);
    expect(events).toHaveLength(1);
    expect(steps.describe().discardedTokens).toBe(1);
    expect(steps.counts).toMatchObject({ steps: 2, generatedTokens: 1 });
  });

  it('ends an aborted sequence while its step runs', async () => {
    const { go, work, add, scheduler, pool } = makePipeline(8);
    const { sequence, events } = add({ promptTokens: 4, maxTokens: 9 });
    await go();
    sequence.isAborted = true;
    const landing = go();
    expect(events).toMatchObject([{ reason: 'abort', generatedTokens: 0 }]);
    work[0]?.end([5]);
    await landing;
    scheduler.next(0);
    expect([events.length, work.length, pool.free]).toEqual([1, 1, 8]);
  });

  it('delivers what was on its way when the time was over, and nothing after it', async () => {
    const { go, work, add, clock } = makePipeline(8);
    const { events } = add({ promptTokens: 4, maxTokens: 9, deadlineMs: 10 });
    await go();
    clock.nowMs = 10;
    const landing = go();
    work[0]?.end([5]);
    await landing;
    await go();
    expect(work).toHaveLength(1);
    expect(events).toMatchObject([{ id: 5 }, { reason: 'error', generatedTokens: 1 }]);
    expect(events[1]?.type === 'finish' && events[1].error).toBeInstanceOf(DeadlineError);
  });

  it('a step that fails while the next one runs ends its rows in both, and no others', async () => {
    const { go, work, add, steps, clock } = makePipeline(16);
    const failing = add({ promptTokens: 4, maxTokens: 9 });
    await go();
    const joined = add({ promptTokens: 3, maxTokens: 3 });
    const second = go();
    work[0]?.end([5]);
    await second;
    // Step 2 decodes one row and computes the other's prompt; step 3 decodes both.
    const third = go();
    expect(work.map((one) => one.ids.length)).toEqual([1, 1, 1, 2]);
    work[1]?.fail(new Error('planted'));
    work[2]?.end([20]);
    await turn();
    work[3]?.end([6, 21]);
    await third;
    expect(failing.events).toMatchObject([{ id: 5 }, { reason: 'error', generatedTokens: 1 }]);
    const [, finish] = failing.events;
    expect(finish?.type === 'finish' && finish.error).toBeInstanceOf(StepError);
    expect(ids(joined.events)).toEqual([20, 21]);
    expect(steps.describe()).toMatchObject({ waits: { failure: 1 }, discardedTokens: 1 });
    expect([steps.isFlying, clock.forgotten]).toEqual([false, 1]);
    const last = go();
    work[4]?.end([22]);
    await turn();
    await Promise.all([last, go()]);
    expect(joined.events.at(-1)).toMatchObject({ reason: 'length', generatedTokens: 3 });
  });

  it('delivers the step before one that cannot be launched', async () => {
    const { go, work, add, clock, scheduler, pool } = makePipeline(16);
    const { events } = add({ promptTokens: 4, maxTokens: 9 });
    await go();
    clock.refuse = new Error('planted');
    const second = go();
    expect(events).toEqual([]);
    work[0]?.end([5]);
    await second;
    expect(events).toMatchObject([{ id: 5 }, { reason: 'error', generatedTokens: 1 }]);
    scheduler.next(0);
    expect(pool.free).toBe(16);
  });

  it('waits for the step under way before a sequence gives way to another', async () => {
    const { go, work, add, steps, scheduler, check } = makePipeline(6);
    const both = [0, 1].map(() => add({ promptTokens: 7, maxTokens: 9 }));
    await go();
    for (const step of [1, 2, 3, 4, 5, 6]) {
      const landing = go();
      work[step - 1]?.end([step, step]);
      await landing;
      // The seventh step needs a page of each, and there is none.
      expect(steps.isFlying).toBe(step < 6);
    }
    expect(scheduler.counts.preemptions).toBe(0);
    scheduler.next(0);
    check();
    expect(scheduler.counts.preemptions).toBe(1);
    expect(both.map(({ events }) => ids(events))).toEqual([
      [1, 2, 3, 4, 5, 6],
      [1, 2, 3, 4, 5, 6],
    ]);
  });
});
