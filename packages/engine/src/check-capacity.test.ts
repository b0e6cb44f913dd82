import { describe, expect, it } from 'vitest';
import { makeScheduler } from '../test/makers/scheduling.js';
import { makeSequence } from '../test/makers/sequence.js';
import { type CapacityLimits, checkCapacity } from './check-capacity.js';

const small = { pages: 100, maxSequences: 2, maxWaiting: 6, maxWaitingTokens: 40 };

/** An engine's door: lets requests in until it refuses one. */
function makeDoor(limits: Partial<CapacityLimits> = {}) {
  const { scheduler } = makeScheduler(100, { maxSequences: 2 });
  const enter = (tenant: string, promptTokens = 1): string | undefined => {
    const { sequence } = makeSequence({ promptTokens, parameters: { tenant } });
    try {
      checkCapacity(sequence, scheduler, { ...small, maxTenantShare: 0.5, ...limits });
    } catch (error) {
      return (error as { reason: string }).reason;
    }
    scheduler.add(sequence, 0);
    return undefined;
  };
  /** How many of a tenant go in. */
  const fill = (tenant: string, promptTokens = 1): number => {
    for (let count = 0; count < 1000; count += 1) {
      if (enter(tenant, promptTokens) !== undefined) return count;
    }
    return Number.POSITIVE_INFINITY;
  };
  return { scheduler, enter, fill };
}

describe('with a share for each tenant', () => {
  it('a tenant has that of the requests, whether they wait or run', () => {
    const { scheduler, enter, fill } = makeDoor();
    expect(fill('a')).toBe(4);
    scheduler.next(0);
    expect(scheduler.running).toBe(2);
    expect(enter('a')).toBe('queue');
    expect(fill('b')).toBe(4);
    expect([enter('b'), enter('c')]).toEqual(['queue', 'queue']);
  });

  it('a tenant has that of the tokens', () => {
    const { enter, fill } = makeDoor();
    expect(fill('a', 10)).toBe(2);
    expect(enter('a', 1)).toBe('tokens');
    expect(fill('b', 20)).toBe(1);
    expect(enter('c', 1)).toBe('tokens');
  });

  it('a tenant has room for one request, however long those of others are', () => {
    const { enter } = makeDoor();
    expect([enter('a', 100), enter('a', 1)]).toEqual([undefined, 'tokens']);
    expect([enter('b', 100), enter('b', 1), enter('c', 1)]).toEqual([
      undefined,
      'tokens',
      'tokens',
    ]);
    const least = makeDoor({ maxTenantShare: 0.01 });
    expect([least.fill('a'), least.fill('b', 100), least.fill('c')]).toEqual([1, 1, 1]);
  });
});

it('without, one tenant may have all of them', () => {
  const maxTenantShare = 1;
  const { enter, fill } = makeDoor({ maxTenantShare });
  expect([fill('a'), enter('b')]).toEqual([8, 'queue']);
  const tokens = makeDoor({ maxTenantShare });
  expect([tokens.fill('a', 10), tokens.enter('b', 1)]).toEqual([4, 'tokens']);
  const long = makeDoor({ maxTenantShare });
  expect([long.enter('a', 100), long.enter('b', 1)]).toEqual([undefined, 'tokens']);
});

it('what can never fit is refused as such', () => {
  expect(makeDoor({ pages: 3 }).enter('a', 12)).toBe('never');
});
