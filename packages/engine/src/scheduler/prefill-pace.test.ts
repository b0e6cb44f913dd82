import { describe, expect, it } from 'vitest';
import { compute, makeScheduler } from '../../test/makers/scheduling.js';
import { makeSequence } from '../../test/makers/sequence.js';
import { PrefillPace } from './prefill-pace.js';

describe('the pace of prefills', () => {
  it('says nothing before it measured', () => {
    expect(new PrefillPace().tokensWithin(50, { depth: 1, pageTokens: 4 })).toBeUndefined();
  });

  it('fits whole pages into the target, at least one', () => {
    const pace = new PrefillPace();
    pace.observe({ depth: 1, tokens: 100, ms: 200 });
    expect(pace.tokensWithin(50, { depth: 1, pageTokens: 4 })).toBe(24);
    expect(pace.tokensWithin(1, { depth: 1, pageTokens: 4 })).toBe(4);
  });

  it('knows deep contexts apart, and guesses from the nearest shallower one', () => {
    const pace = new PrefillPace();
    pace.observe({ depth: 1, tokens: 10, ms: 10 });
    pace.observe({ depth: 1000, tokens: 10, ms: 100 });
    const tokens = (depth: number) => pace.tokensWithin(40, { depth, pageTokens: 1 });
    expect([1, 100, 1000, 50_000].map(tokens)).toEqual([40, 40, 4, 4]);
  });

  it('follows what it measures', () => {
    const pace = new PrefillPace();
    for (const ms of [10, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20]) {
      pace.observe({ depth: 1, tokens: 10, ms });
    }
    expect(pace.tokensWithin(40, { depth: 1, pageTokens: 1 })).toBe(20);
  });
});

describe('a chunk of prompts', () => {
  /** Sizes of the chunks of a long prompt beside a sequence that decodes. */
  function chunks(itlTargetMs: number, isAlone = false): number[] {
    const { scheduler } = makeScheduler(400, { maxBatchedTokens: 64, itlTargetMs });
    const sizes: number[] = [];
    if (!isAlone) scheduler.add(makeSequence({ promptTokens: 40, maxTokens: 90 }).sequence, 0);
    const first = isAlone ? undefined : scheduler.next(0);
    if (first) compute(scheduler, first, 2);
    scheduler.add(makeSequence({ promptTokens: 100 }).sequence, 0);
    for (let step = 1; step < 20; step += 1) {
      const batch = scheduler.next(step);
      if (!batch) break;
      const [piece] = batch.prefill;
      if (piece) sizes.push(piece.tokens);
      compute(scheduler, batch, 2);
    }
    return sizes;
  }

  it('is cut to the target while others decode, in whole pages', () => {
    expect(chunks(50)).toEqual([24, 24, 24, 24, 4]);
    expect(chunks(1)).toHaveLength(19);
  });

  it('is as large as it may be without a target, and when nobody decodes', () => {
    expect(chunks(0)).toEqual([64, 36]);
    expect(chunks(50, true)).toEqual([64, 36]);
  });

  it('has no more of a long prompt than the threshold, and the rest for others', () => {
    const limits = { maxBatchedTokens: 16, longPrefillTokenThreshold: 6, maxPartialPrefills: 3 };
    const { scheduler } = makeScheduler(64, limits);
    for (const promptTokens of [50, 40, 3]) {
      scheduler.add(makeSequence({ promptTokens }).sequence, 0);
    }
    expect(scheduler.next(0)?.prefill.map(({ tokens }) => tokens)).toEqual([6, 6, 3]);
  });
});
