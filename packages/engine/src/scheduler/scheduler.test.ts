import { describe, expect, it } from 'vitest';
import { makeSequence } from '../../test/makers/sequence.js';
import type { TokenEvent } from '../generation-event.js';
import { PagePool } from '../pages/page-pool.js';
import { PrefixCache } from '../pages/prefix-cache.js';
import type { Batch } from './batch.js';
import { Scheduler } from './scheduler.js';

const token: TokenEvent = { type: 'token', id: 7, logprob: -1, top: [] };

function makeScheduler(
  pages = 16,
  limits: { maxSequences?: number; budget?: number; sharing?: boolean } = {},
) {
  const pool = new PagePool(pages);
  const isEnabled = limits.sharing ?? false;
  const cache = new PrefixCache({ pool, pageTokens: 4, isEnabled });
  const scheduler = new Scheduler({
    cache,
    maxSequences: limits.maxSequences ?? 4,
    maxBatchedTokens: limits.budget ?? 8,
    maxPartialPrefills: 2,
    longPrefillTokenThreshold: 0,
    itlTargetMs: 0,
    queueTimeoutMs: 0,
  });
  return { pool, scheduler, check: () => cache.check(scheduler.live) };
}

/** Runs the batch as the engine would: commit, then one token for each row that has one. */
function run(scheduler: Scheduler, batch: Batch): void {
  scheduler.commit(batch);
  for (const sequence of batch.decode) sequence.accept(token);
  for (const { sequence, start, tokens } of batch.prefill) {
    if (start + tokens === sequence.prompt.length) sequence.accept(token);
  }
  scheduler.landed(batch.step);
}

describe('the scheduler', () => {
  it('splits a long prompt into chunks and then decodes', () => {
    const { scheduler, pool, check } = makeScheduler();
    const { sequence, events } = makeSequence({ promptTokens: 11, maxTokens: 2 });
    scheduler.add(sequence, 0);
    const shapes: unknown[] = [];
    for (let batch = scheduler.next(0); batch; batch = scheduler.next(0)) {
      shapes.push([batch.decode.length, batch.prefill.map(({ start, tokens }) => [start, tokens])]);
      run(scheduler, batch);
      check();
    }
    expect(shapes).toEqual([
      [0, [[0, 8]]],
      [0, [[8, 3]]],
      [1, []],
    ]);
    expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'length', generatedTokens: 2 });
    expect(pool.free).toBe(16);
  });

  it('lets a short prompt share the chunk of a long one', () => {
    const { scheduler } = makeScheduler(32, { budget: 8 });
    scheduler.add(makeSequence({ promptTokens: 6 }).sequence, 0);
    scheduler.add(makeSequence({ promptTokens: 20 }).sequence, 0);
    const batch = scheduler.next(0);
    expect(batch?.prefill.map(({ tokens }) => tokens)).toEqual([6, 2]);
  });

  it('shares the chunk of a long prompt with a short one behind it', () => {
    const { scheduler } = makeScheduler(64, { budget: 8 });
    scheduler.add(makeSequence({ promptTokens: 100 }).sequence, 0);
    scheduler.add(makeSequence({ promptTokens: 3 }).sequence, 0);
    expect(scheduler.next(0)?.prefill.map(({ tokens }) => tokens)).toEqual([5, 3]);
  });

  it('admits in order of arrival and never passes over a large request', () => {
    const { scheduler } = makeScheduler(4);
    scheduler.add(makeSequence({ promptTokens: 8, maxTokens: 1 }).sequence, 0);
    scheduler.add(makeSequence({ promptTokens: 12, maxTokens: 1 }).sequence, 0);
    scheduler.add(makeSequence({ promptTokens: 1, maxTokens: 1 }).sequence, 0);
    expect(scheduler.next(0)?.prefill).toHaveLength(1);
    expect(scheduler.waiting).toBe(2);
  });

  it('runs no more sequences than it may', () => {
    const { scheduler } = makeScheduler(64, { maxSequences: 2 });
    for (let index = 0; index < 3; index += 1) {
      scheduler.add(makeSequence({ promptTokens: 2 }).sequence, 0);
    }
    scheduler.next(0);
    expect([scheduler.running, scheduler.waiting]).toEqual([2, 1]);
  });

  it('frees the pages of an aborted sequence at the next step border', () => {
    const { scheduler, pool } = makeScheduler();
    const { sequence, events } = makeSequence({ promptTokens: 10, maxTokens: 20 });
    scheduler.add(sequence, 0);
    const batch = scheduler.next(0);
    if (batch) run(scheduler, batch);
    sequence.isAborted = true;
    expect(scheduler.next(0)).toBeUndefined();
    expect(pool.counts()).toMatchObject({ free: 16, reserved: 0 });
    expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'abort' });
  });

  it('drops a waiting sequence that was aborted', () => {
    const { scheduler } = makeScheduler();
    const { sequence } = makeSequence({ promptTokens: 3 });
    sequence.isAborted = true;
    scheduler.add(sequence, 0);
    expect(scheduler.next(0)).toBeUndefined();
    expect(scheduler.isIdle).toBe(true);
  });

  it('gives everything back when drained', () => {
    const { scheduler, pool, check } = makeScheduler(8);
    for (const promptTokens of [5, 5, 30])
      scheduler.add(makeSequence({ promptTokens }).sequence, 0);
    const batch = scheduler.next(0);
    if (batch) run(scheduler, batch);
    scheduler.drain((sequence) => sequence.finish('abort'));
    check();
    expect([pool.free, pool.counts().reserved, scheduler.isIdle]).toEqual([8, 0, true]);
  });

  it('looks for the pages of a long prompt in slices, while others go on', () => {
    const pageCount = 1300;
    const { scheduler, check, pool } = makeScheduler(1400, {
      budget: 4 * pageCount,
      sharing: true,
    });
    const long = () => makeSequence({ promptTokens: 4 * pageCount, maxTokens: 1 });
    const ask = () => {
      const batch = scheduler.next(0);
      if (batch) run(scheduler, batch);
      check();
      return batch;
    };
    scheduler.add(long().sequence, 0);
    for (let step = 0; !scheduler.isIdle; step += 1) {
      if (step > 10_000) throw new Error('the scheduler does not come to an end');
      ask();
    }
    expect(pool.evictable).toBe(pageCount);
    scheduler.add(makeSequence({ promptTokens: 2, maxTokens: 20 }).sequence, 0);
    ask();
    const second = long();
    scheduler.add(second.sequence, 0);
    // 512 names a decision.
    for (const isSearching of [true, true, false]) {
      expect(ask()?.decode).toHaveLength(isSearching ? 1 : 2);
      expect(scheduler.isSearching).toBe(isSearching);
    }
    expect(second.events.at(-1)).toMatchObject({ cachedTokens: 4 * pageCount - 1 });
  });

  it('computes a prompt once for two that come together', () => {
    const { scheduler, check } = makeScheduler(32, { budget: 8, sharing: true });
    const twins = [1, 2].map(() => makeSequence({ promptTokens: 22, maxTokens: 2 }));
    for (const { sequence } of twins) scheduler.add(sequence, 0);
    const shapes: number[][][] = [];
    for (let batch = scheduler.next(0); batch; batch = scheduler.next(0)) {
      shapes.push(batch.prefill.map(({ start, tokens }) => [start, tokens]));
      run(scheduler, batch);
      check();
    }
    expect(shapes).toEqual([[[0, 8]], [[8, 8]], [[16, 6]], [], []]);
    expect(twins.map(({ events }) => events.at(-1))).toMatchObject([
      { reason: 'length', cachedTokens: 0 },
      { reason: 'length', cachedTokens: 21 },
    ]);
  });
});
