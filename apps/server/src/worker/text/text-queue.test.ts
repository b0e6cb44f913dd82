import { describe, expect, it } from 'vitest';
import { TextQueue } from './text-queue.js';

interface Job {
  readonly name: string;
  readonly tenant: string;
  readonly characters: number;
}

const job = (name: string, characters = 1): Job => ({ name, tenant: name[0] ?? '', characters });
const queueOf = (...names: readonly string[]) => {
  const queue = new TextQueue<Job>({ jobs: 8, characters: 100 });
  for (const name of names) queue.add(job(name));
  return queue;
};
const takeAll = (queue: TextQueue<Job>): string[] => {
  const names: string[] = [];
  for (let next = queue.take(); next; next = queue.take()) names.push(next.name);
  return names;
};

describe('the queue of the text workers', () => {
  it('takes tenants in turn, and the jobs of each in order', () => {
    expect(takeAll(queueOf('a1', 'a2', 'a3', 'b1', 'c1', 'c2'))).toEqual([
      ...['a1', 'b1', 'c1', 'a2', 'c2', 'a3'],
    ]);
    expect(takeAll(queueOf('a1', 'a2'))).toEqual(['a1', 'a2']);
    expect(queueOf().take()).toBeUndefined();
  });

  it('takes a tenant that comes late before one that was served', () => {
    const queue = queueOf('a1', 'a2', 'a3');
    expect(queue.take()?.name).toBe('a1');
    queue.add(job('b1'));
    expect(takeAll(queue)).toEqual(['a2', 'b1', 'a3']);
  });

  it('leaves tenants that may not run in their places', () => {
    const queue = queueOf('a1', 'b1', 'a2', 'c1');
    expect(queue.take((tenant) => tenant !== 'a')?.name).toBe('b1');
    expect(queue.take(() => false)).toBeUndefined();
    expect(queue.length).toBe(3);
    expect(takeAll(queue)).toEqual(['a1', 'c1', 'a2']);
  });

  it('forgets what was removed', () => {
    const queue = queueOf('a1');
    const [left, alone] = [job('a2'), job('b1')];
    for (const one of [left, alone, job('a3')]) queue.add(one);
    expect([queue.remove(left), queue.remove(alone), queue.remove(left)]).toEqual([
      ...[true, true, false],
    ]);
    expect(queue.length).toBe(2);
    expect(takeAll(queue)).toEqual(['a1', 'a3']);
    expect(queue.length).toBe(0);
  });

  it('has room for so many jobs and characters, and for any job alone', () => {
    const queue = new TextQueue<Job>({ jobs: 2, characters: 100 });
    expect([queue.hasRoom(100), queue.hasRoom(1000)]).toEqual([true, true]);
    const large = job('a1', 1000);
    queue.add(large);
    expect(queue.hasRoom(0)).toBe(false);
    queue.remove(large);
    queue.add(job('a1', 60));
    expect([queue.hasRoom(40), queue.hasRoom(41)]).toEqual([true, false]);
    queue.add(job('b1', 0));
    expect(queue.hasRoom(0)).toBe(false);
    queue.take();
    expect(queue.hasRoom(100)).toBe(true);
    expect(new TextQueue({ jobs: 0, characters: 100 }).hasRoom(0)).toBe(false);
  });
});
