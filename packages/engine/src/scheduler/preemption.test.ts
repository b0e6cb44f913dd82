import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compute, makeScheduler, runAll } from '../../test/makers/scheduling.js';
import { makeSequence } from '../../test/makers/sequence.js';
import { Headroom } from './headroom.js';
import { chooseVictim } from './victim.js';

const add = (
  { scheduler }: ReturnType<typeof makeScheduler>,
  given: Parameters<typeof makeSequence>[0],
) => {
  const made = makeSequence(given);
  scheduler.add(made.sequence, 0);
  return made;
};

describe('headroom', () => {
  it('falls from 0.7 to 0.1 over 600 steps and jumps back when something is preempted', () => {
    const headroom = new Headroom();
    expect(headroom.share).toBe(0.7);
    for (let step = 0; step < 300; step += 1) headroom.decay();
    expect(headroom.share).toBeCloseTo(0.4, 6);
    for (let step = 0; step < 1000; step += 1) headroom.decay();
    expect(headroom.share).toBe(0.1);
    headroom.raise();
    expect(headroom.share).toBe(0.7);
  });

  it('holds back a share of what running sequences may generate, of at most 4096 tokens each', () => {
    const running = [100, 1_000_000].map(
      (maxTokens) => makeSequence({ promptTokens: 1, maxTokens }).sequence,
    );
    expect(new Headroom().pages(running, 4)).toBe(Math.ceil((0.7 * (100 + 4096)) / 4));
  });
});

describe('admission', () => {
  it('counts what admitted prompts still need and what running ones may generate', () => {
    const made = makeScheduler(12);
    add(made, { promptTokens: 20, maxTokens: 8 }); // 5 pages, and ⌈0.7 · 8 ÷ 4⌉ = 2 held back
    add(made, { promptTokens: 24, maxTokens: 1 }); // 6 pages
    made.scheduler.next(0);
    expect([made.scheduler.running, made.scheduler.waiting]).toEqual([1, 1]);
    expect(made.pool.available).toBe(7);
  });

  it('always takes one when nothing runs, though it fills the pool', () => {
    const made = makeScheduler(4);
    const { events } = add(made, { promptTokens: 10, maxTokens: 7 });
    runAll(made);
    expect(events.at(-1)).toMatchObject({ reason: 'length', generatedTokens: 7 });
  });

  it('takes more at once than whole lives would allow', () => {
    const made = makeScheduler(16);
    for (let index = 0; index < 4; index += 1) add(made, { promptTokens: 4, maxTokens: 15 });
    made.scheduler.next(0);
    expect(made.scheduler.running).toBeGreaterThan(1);
  });
});

describe('the victim of a preemption', () => {
  const running = (...given: { computed: number; priority?: number; back?: number }[]) =>
    given.map(({ computed, priority = 0, back }) => {
      const { sequence } = makeSequence({ promptTokens: 8, parameters: { priority } });
      sequence.computedTokens = computed;
      sequence.pages.push(0);
      sequence.admissions = back === undefined ? 1 : 2;
      sequence.admittedStep = back ?? 0;
      return sequence;
    });
  const victim = (all: ReturnType<typeof running>, need = 0, step: number | undefined = 20) => {
    const [sequence] = all.slice(need);
    return sequence && all.indexOf(chooseVictim(all, sequence, step) ?? sequence);
  };

  it('is never the only one that runs', () => {
    const [only] = running({ computed: 4 });
    expect(only && chooseVictim([only], only, 20)).toBeUndefined();
  });

  it('has the lowest priority, then the least to lose, then came last', () => {
    expect(victim(running({ computed: 9 }, { computed: 3 }, { computed: 5 }))).toBe(1);
    expect(victim(running({ computed: 9 }, { computed: 30, priority: 2 }))).toBe(1);
    expect(victim(running({ computed: 9 }, { computed: 5 }, { computed: 5 }))).toBe(2);
  });

  it('is nobody of a better priority than the one in need', () => {
    const all = running({ computed: 9, priority: 1 }, { computed: 3, priority: 0 });
    expect(victim(all)).toBe(0);
  });

  it('did not come back within the last 16 steps, unless nobody else can move', () => {
    const all = running({ computed: 9 }, { computed: 3, back: 5 });
    expect(victim(all, 0, 20)).toBe(0);
    expect(victim(all, 0, 21)).toBe(1);
    const [first] = all;
    expect(first && chooseVictim(all, first, undefined)).toBe(all[1]);
  });
});

describe('a pool that is too small', () => {
  it('lets a preempted sequence compute prompt and continuation anew, and end as if alone', () => {
    const made = makeScheduler(8);
    const all = [1, 2, 3].map(() => add(made, { promptTokens: 4, maxTokens: 20 }));
    const pieces: number[] = [];
    runAll(made, ({ prefill }) => {
      for (const { sequence } of prefill) {
        if (sequence.admissions > 1) pieces.push(sequence.prefillTokens - 4);
      }
    });
    for (const { events } of all) {
      expect(events.at(-1)).toMatchObject({ reason: 'length', generatedTokens: 20 });
    }
    expect(made.scheduler.counts.preemptions).toBeGreaterThan(0);
    expect(pieces.some((again) => again > 0)).toBe(true);
    expect(made.pool.free).toBe(8);
  });

  it('gives an aborted preempted sequence one end', () => {
    const made = makeScheduler(6);
    const all = [1, 2].map(() => add(made, { promptTokens: 4, maxTokens: 18 }));
    for (let step = 0; made.scheduler.counts.preemptions === 0; step += 1) {
      if (step > 1000) throw new Error('nobody is preempted');
      const batch = made.scheduler.next(step);
      if (batch) compute(made.scheduler, batch);
    }
    const preempted = all.find(({ sequence }) => sequence.state === 'waiting');
    if (preempted) preempted.sequence.isAborted = true;
    runAll(made);
    expect(preempted?.events.filter(({ type }) => type === 'finish')).toHaveLength(1);
    expect(preempted?.events.at(-1)).toMatchObject({ reason: 'abort' });
  });

  it('ends every request, whatever they are, and loses no page', () => {
    const request = fc.record({
      promptTokens: fc.integer({ min: 1, max: 30 }),
      maxTokens: fc.integer({ min: 1, max: 20 }),
      priority: fc.integer({ min: -2, max: 2 }),
      tenant: fc.constantFrom('a', 'b', 'c'),
    });
    fc.assert(
      fc.property(
        fc.array(request, { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 13, max: 40 }),
        (requests, pages) => {
          const made = makeScheduler(pages);
          const all = requests.map(({ priority, tenant, ...sizes }) =>
            add(made, { ...sizes, parameters: { priority, tenant } }),
          );
          runAll(made);
          for (const { events, sequence } of all) {
            expect(events.at(-1)).toMatchObject({ generatedTokens: sequence.maxTokens });
          }
          expect(made.pool.free).toBe(pages);
        },
      ),
      { numRuns: 60 },
    );
  });
});
