import { describe, expect, it } from 'vitest';
import { makeScheduler, runAll } from '../../test/makers/scheduling.js';
import { makeSequence } from '../../test/makers/sequence.js';
import { WaitingQueue } from './waiting-queue.js';

/** A queue of what was given, and a way to take it in turn. */
function makeQueue() {
  const queue = new WaitingQueue();
  const names = new Map<number, string>();
  const add = (
    name: string,
    given: { priority?: number; tenant?: string; promptTokens?: number; arrivalMs?: number } = {},
  ) => {
    const { priority = 0, tenant = '', promptTokens = 1, arrivalMs = 0 } = given;
    const { sequence } = makeSequence({ promptTokens, parameters: { priority, tenant } });
    sequence.arrivalMs = arrivalMs;
    names.set(sequence.id, name);
    queue.add(sequence);
    return sequence;
  };
  const take = (nowMs = 0): string | undefined => {
    const head = queue.head(nowMs);
    if (!head) return undefined;
    queue.take(head);
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
    queue.forgetIdle([]);
    add('g', { tenant: 'g', promptTokens: 2000 });
    add('o', { tenant: 'o', promptTokens: 2000 });
    expect(take()).toBe('g');
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
