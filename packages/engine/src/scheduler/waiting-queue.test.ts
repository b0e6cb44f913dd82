import { describe, expect, it } from 'vitest';
import { makeScheduler, runAll } from '../../test/makers/scheduling.js';
import { makeSequence } from '../../test/makers/sequence.js';
import { WaitingQueue } from './waiting-queue.js';

/** A queue of what was given, and a way to take it in turn. */
function makeQueue() {
  /** Tokens of prompts that are found. */
  const found = new Map<number, number>();
  const queue = new WaitingQueue(({ id }) => found.get(id) ?? 0);
  const names = new Map<number, string>();
  const add = (
    name: string,
    given: {
      priority?: number;
      tenant?: string;
      promptTokens?: number;
      arrivalMs?: number;
      foundTokens?: number;
    } = {},
  ) => {
    const { priority = 0, tenant = '', promptTokens = 1, arrivalMs = 0 } = given;
    const { sequence } = makeSequence({ promptTokens, parameters: { priority, tenant } });
    sequence.arrivalMs = arrivalMs;
    names.set(sequence.id, name);
    found.set(sequence.id, given.foundTokens ?? 0);
    queue.add(sequence);
    return sequence;
  };
  const take = (nowMs = 0): string | undefined => {
    const head = queue.head(nowMs);
    if (!head) return undefined;
    head.cachedTokens = found.get(head.id) ?? 0;
    queue.take(head, nowMs);
    head.admissions += 1;
    return names.get(head.id);
  };
  const takeAll = (nowMs = 0): string[] => {
    const all: string[] = [];
    for (let name = take(nowMs); name !== undefined; name = take(nowMs)) all.push(name);
    return all;
  };
  return { queue, add, take, takeAll };
}

describe('the waiting queue', () => {
  it('gives in order of arrival, whatever order they were added in', () => {
    const { add, takeAll } = makeQueue();
    add('late', { arrivalMs: 5 });
    add('early', { arrivalMs: 1 });
    expect(takeAll()).toEqual(['early', 'late']);
  });

  it('gives the lower priority first', () => {
    const { add, takeAll } = makeQueue();
    add('zero');
    add('minus', { priority: -3 });
    add('plus', { priority: 4 });
    expect(takeAll()).toEqual(['minus', 'zero', 'plus']);
  });

  it('promotes by one for each 30 s of waiting', () => {
    const late = { arrivalMs: 29_999 };
    for (const [nowMs, first] of [
      [29_999, 'new'],
      [30_000, 'old'],
    ] as const) {
      const { add, take } = makeQueue();
      add('old', { priority: 1 });
      add('new', { priority: 0, ...late });
      expect(take(nowMs)).toBe(first);
    }
  });

  it('gives a preempted one its place back', () => {
    const { queue, add, take, takeAll } = makeQueue();
    const first = add('first', { arrivalMs: 1 });
    expect(take()).toBe('first');
    first.admissions = 1;
    add('second', { arrivalMs: 2 });
    expect(queue.preempted).toBe(0);
    queue.add(first);
    expect(queue.preempted).toBe(1);
    expect(takeAll()).toEqual(['first', 'second']);
    expect(queue.preempted).toBe(0);
  });

  it('lets tenants take turns by what they cost, not by how many requests they have', () => {
    const { add, takeAll } = makeQueue();
    for (let index = 0; index < 6; index += 1) add('A', { tenant: 'a', promptTokens: 1024 });
    for (let index = 0; index < 3; index += 1) add('b', { tenant: 'b', promptTokens: 2048 });
    expect(takeAll().join('')).toBe('AAbAAbAAb');
  });

  it('makes a tenant wait that generated much, and forgets tenants that are gone', () => {
    const { queue, add, take, takeAll } = makeQueue();
    const greedy = add('g', { tenant: 'g' });
    add('o', { tenant: 'o' });
    expect([take(), take()].sort()).toEqual(['g', 'o']);
    for (let token = 0; token < 2048; token += 1) queue.chargeToken(greedy);
    for (let index = 0; index < 2; index += 1) {
      add('g', { tenant: 'g', promptTokens: 2000 });
      add('o', { tenant: 'o', promptTokens: 2000 });
    }
    expect(takeAll().join('')).toBe('oogg');
    queue.forgetIdle(() => false);
    add('g', { tenant: 'g', promptTokens: 2000 });
    add('o', { tenant: 'o', promptTokens: 2000 });
    expect(take()).toBe('g');
  });

  it('passes over tenants that may not start, and forgets nothing of theirs', () => {
    const { queue, add, takeAll } = makeQueue();
    for (const tenant of ['a', 'b', 'c']) {
      for (let index = 0; index < 2; index += 1) add(tenant, { tenant, promptTokens: 1024 });
    }
    const names = (except: readonly string[]) => queue.head(0, new Set(except))?.tenant;
    expect(names(['a'])).not.toBe('a');
    expect(names(['a', 'b'])).toBe('c');
    expect(names(['a', 'b', 'c'])).toBeUndefined();
    expect(takeAll().sort().join('')).toBe('aabbcc');
  });

  it('prefers whose prompt is there, the longer the better, among equal priorities', () => {
    const { add, takeAll } = makeQueue();
    add('none');
    add('some', { foundTokens: 128 });
    add('urgent', { priority: -1 });
    add('most', { foundTokens: 1024 });
    add('as much', { foundTokens: 1024 });
    add('later', { priority: 1, foundTokens: 4096 });
    expect(takeAll()).toEqual(['urgent', 'most', 'as much', 'some', 'none', 'later']);
  });

  it('passes over nobody more than eight times, nor one that had a place', () => {
    const { queue, add, take, takeAll } = makeQueue();
    add('poor');
    for (let index = 0; index < 20; index += 1) add('rich', { foundTokens: 128 });
    expect(takeAll().indexOf('poor')).toBe(8);
    const first = add('first');
    expect(take()).toBe('first');
    queue.add(first);
    add('rich', { foundTokens: 128, arrivalMs: 1 });
    expect(takeAll(1)).toEqual(['first', 'rich']);
  });

  it('compares the first 32 only', () => {
    const { add, take } = makeQueue();
    for (let index = 0; index < 31; index += 1) add('poor', { arrivalMs: index });
    add('in reach', { arrivalMs: 40, foundTokens: 128 });
    add('too far', { arrivalMs: 50, foundTokens: 1024 });
    expect(take(50)).toBe('in reach');
    expect(take(50)).toBe('too far');
  });

  it('charges what is not found', () => {
    const { add, takeAll } = makeQueue();
    for (let index = 0; index < 6; index += 1) {
      add('A', { tenant: 'a', promptTokens: 2048, foundTokens: 1024 });
    }
    for (let index = 0; index < 3; index += 1) add('b', { tenant: 'b', promptTokens: 2048 });
    expect(takeAll().join('')).toBe('AAbAAbAAb');
  });

  it('gives back what others computed of a prompt after it was charged', () => {
    const order = (isRefunded: boolean): string => {
      const { queue, add, takeAll } = makeQueue();
      add('o', { tenant: 'a', promptTokens: 2048 });
      const twin = add('t', { tenant: 'b', promptTokens: 2048 });
      takeAll();
      twin.cachedTokens = 2047;
      // The second time there is nothing left to give.
      for (let time = 0; isRefunded && time < 2; time += 1) queue.refund(twin);
      for (let index = 0; index < 2; index += 1) {
        add('a', { tenant: 'a', promptTokens: 1024 });
        add('b', { tenant: 'b', promptTokens: 1024 });
      }
      return takeAll().join('');
    };
    expect([order(false), order(true)]).toEqual(['abab', 'bbaa']);
  });

  it('gives nothing back to one that was alone, and so not charged', () => {
    const order = (isRefunded: boolean): string => {
      const { queue, add, takeAll } = makeQueue();
      const first = add('f', { tenant: 'b', promptTokens: 2048 });
      takeAll();
      first.cachedTokens = 2047;
      for (const tenant of ['a', 'b', 'a', 'b']) add(tenant, { tenant, promptTokens: 1024 });
      if (isRefunded) queue.refund(first);
      return takeAll().join('');
    };
    expect(order(true)).toBe(order(false));
  });

  it('serves a request far above the quantum of a round', () => {
    const { add, takeAll } = makeQueue();
    add('huge', { tenant: 'a', promptTokens: 1_000_000 });
    add('huge', { tenant: 'b', promptTokens: 1_000_000 });
    expect(takeAll()).toEqual(['huge', 'huge']);
  });

  it('bounds how long one tenant waits behind a flood of another', () => {
    const made = makeScheduler(64, { maxSequences: 2 });
    for (let index = 0; index < 200; index += 1) {
      const parameters = { tenant: 'flood' };
      made.scheduler.add(makeSequence({ promptTokens: 8, maxTokens: 4, parameters }).sequence, 0);
    }
    const parameters = { tenant: 'single' };
    const { sequence } = makeSequence({ promptTokens: 8, maxTokens: 4, parameters });
    made.scheduler.add(sequence, 0);
    let firstStep: number | undefined;
    runAll(made, ({ prefill }, step) => {
      if (prefill.some((piece) => piece.sequence === sequence)) firstStep ??= step;
    });
    expect(firstStep).toBeLessThan(40);
  });
});
