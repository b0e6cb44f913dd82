import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compute, makeScheduler, runAll } from '../../test/makers/scheduling.js';
import { makeSequence } from '../../test/makers/sequence.js';
import { shareOf } from '../pages/share.js';
import type { Sequence } from '../sequence.js';
import { replaySchedule } from './trace/replay.js';

type Made = ReturnType<typeof makeScheduler>;

const add = (
  { scheduler }: Made,
  tenant: string,
  given: { promptTokens: number; maxTokens?: number; cacheSalt?: string },
) => {
  const { cacheSalt, ...sizes } = given;
  const parameters = { tenant, ...(cacheSalt === undefined ? {} : { cacheSalt }) };
  const made = makeSequence({ ...sizes, parameters });
  scheduler.add(made.sequence, 0);
  return made;
};

/** Pages of a tenant by its tables and promises. */
function pagesOf({ scheduler, cache }: Made, tenant: string): number {
  const own = scheduler.live.filter((one: Sequence) => one.tenant === tenant);
  const promised = own.reduce((sum, one) => sum + cache.search.holding(one).promised, 0);
  return new Set(own.flatMap(({ pages }) => pages)).size + promised;
}

describe('a share of the pages for each tenant', () => {
  it('admits no more than its prompts may hold, and lets others by', () => {
    const made = makeScheduler(16, { maxSequences: 8, maxTenantShare: 0.5 });
    const greedy = [1, 2, 3].map(() => add(made, 'a', { promptTokens: 12, maxTokens: 1 }));
    const other = add(made, 'b', { promptTokens: 12, maxTokens: 1 });
    const batch = made.scheduler.next(0);
    // Three pages each, and one is held back for what those that run may say.
    const admissions = [...greedy, other].map(({ sequence }) => sequence.admissions);
    expect(admissions).toEqual([1, 1, 0, 1]);
    expect(made.scheduler.counts).toMatchObject({ tenantsAtShare: 1, largestTenantPages: 6 });
    if (batch) compute(made.scheduler, batch);
    runAll(made);
    expect(made.scheduler.counts).toMatchObject({ tenantsAtShare: 0, largestTenantPages: 0 });
  });

  it('is told as the reason of nobody who waits for something else', () => {
    const made = makeScheduler(16, { maxSequences: 3, maxTenantShare: 0.5 });
    const { scheduler } = made;
    const greedy = [1, 2, 3].map(() => add(made, 'a', { promptTokens: 12, maxTokens: 9 }));
    const decide = (backlog?: 'behind' | 'stuck') => {
      const batch = scheduler.next(0, backlog);
      if (batch) compute(scheduler, batch);
      return scheduler.counts.tenantsAtShare;
    };
    expect(decide()).toBe(1);
    expect([decide('behind'), decide(), decide('stuck'), decide()]).toEqual([0, 1, 0, 1]);
    // Now it waits for a place, too, and then not at all.
    add(made, 'b', { promptTokens: 2, maxTokens: 9 });
    expect(decide()).toBe(0);
    const [, , last] = greedy;
    if (last) last.sequence.isAborted = true;
    expect([decide(), scheduler.running, scheduler.waiting]).toEqual([0, 3, 0]);
  });

  it('takes from its own when it grows beyond that', () => {
    const made = makeScheduler(16, { maxTenantShare: 0.5 });
    const [first, second] = [1, 2].map(() => add(made, 'a', { promptTokens: 4, maxTokens: 20 }));
    const other = add(made, 'b', { promptTokens: 4, maxTokens: 20 });
    runAll(made, () => expect(pagesOf(made, 'a')).toBeLessThanOrEqual(8));
    expect(other.sequence.admissions).toBe(1);
    expect(first?.sequence.admissions).toBe(1);
    expect(second?.sequence.admissions).toBeGreaterThan(1);
    const { preemptions, sharePreemptions } = made.scheduler.counts;
    expect(sharePreemptions).toBe(preemptions);
  });

  it('counts a page once that several sequences of a tenant hold', () => {
    const made = makeScheduler(16, { sharing: true, maxTenantShare: 0.5, maxBatchedTokens: 64 });
    const twins = [1, 2, 3].map(() => add(made, 'a', { promptTokens: 22, maxTokens: 2 }));
    let together = 0;
    runAll(made, () => {
      together = Math.max(together, made.scheduler.running);
      expect(pagesOf(made, 'a')).toBeLessThanOrEqual(8);
    });
    expect(together).toBeGreaterThan(1);
    for (const { events } of twins) expect(events.at(-1)).toMatchObject({ reason: 'length' });
  });

  it('is no bound when it is all of them', () => {
    const made = makeScheduler(16, { maxSequences: 8, maxTenantShare: 1 });
    for (let index = 0; index < 4; index += 1) add(made, 'a', { promptTokens: 12, maxTokens: 1 });
    made.scheduler.next(0);
    expect(made.scheduler.running).toBe(4);
  });

  it('S25: is never exceeded, ends every request, and its traces replay', () => {
    const request = fc.record({
      promptTokens: fc.integer({ min: 1, max: 30 }),
      maxTokens: fc.integer({ min: 1, max: 18 }),
      tenant: fc.constantFrom('a', 'b', 'c'),
      cacheSalt: fc.constantFrom('x', 'y'),
    });
    fc.assert(
      fc.property(
        fc.array(request, { minLength: 1, maxLength: 30 }),
        // At least the twelve pages of the longest sequence.
        fc.integer({ min: 24, max: 48 }),
        fc.double({ min: 0.5, max: 0.99, noNaN: true }),
        fc.boolean(),
        (requests, pages, maxTenantShare, sharing) => {
          const lines: string[] = [];
          const onTrace = (line: string) => lines.push(line);
          const made = makeScheduler(pages, { maxTenantShare, sharing, maxSequences: 6, onTrace });
          const all = requests.map(({ tenant, ...sizes }) => add(made, tenant, sizes));
          runAll(made, () => {
            for (const tenant of ['a', 'b', 'c']) {
              expect(pagesOf(made, tenant)).toBeLessThanOrEqual(shareOf(pages, maxTenantShare));
            }
          });
          for (const { events, sequence } of all) {
            expect(events.at(-1)).toMatchObject({ generatedTokens: sequence.maxTokens });
          }
          expect(made.pool.free + made.pool.evictable).toBe(pages);
          expect(replaySchedule(lines.join('\n')).difference).toBeUndefined();
        },
      ),
      { numRuns: 60 },
    );
  });
});
