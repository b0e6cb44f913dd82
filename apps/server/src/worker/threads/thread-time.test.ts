import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, it } from 'vitest';
import {
  knowsThreadTimes,
  ownThread,
  ThreadClock,
  threadClock,
  threadTime,
} from './thread-time.js';

describe('the time of a thread', () => {
  it('grows while it computes, and not while it sleeps', async () => {
    const own = threadTime(ownThread()) ?? Number.POSITIVE_INFINITY;
    const end = performance.now() + 10_000;
    while ((threadTime(ownThread()) ?? 0) <= own && performance.now() < end);
    const later = threadTime(ownThread()) ?? 0;
    expect(later).toBeGreaterThan(own);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((threadTime(ownThread()) ?? 0) - later).toBeLessThan(200);
  });

  it('is that of one thread, as another may see it', async () => {
    const source = `
      const { parentPort } = require('node:worker_threads');
      parentPort.postMessage(Number(require('node:fs').readlinkSync('/proc/thread-self').split('/').pop()));
      for (;;) Math.sqrt(2);`;
    const worker = new Worker(source, { eval: true });
    const thread = await new Promise<number>((resolve) => worker.once('message', resolve));
    expect(thread).not.toBe(ownThread());
    const until = performance.now() + 10_000;
    while ((threadTime(thread) ?? 0) < 150 && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(threadTime(thread)).toBeGreaterThanOrEqual(150);
    await worker.terminate();
  });

  it('is the same by the clock of the thread itself', () => {
    const clock = new ThreadClock();
    const before = threadTime(ownThread()) ?? Number.NaN;
    const now = clock.now();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(threadTime(ownThread())).toBeGreaterThanOrEqual(now);
    const end = performance.now() + 10_000;
    while (clock.now() <= now && performance.now() < end);
    expect(clock.now()).toBeGreaterThan(now);
  });

  it('is unknown of no thread', () => {
    expect(threadTime(undefined)).toBeUndefined();
    expect(threadTime(0)).toBeUndefined();
  });
});

describe('the time of a thread on a kernel that counts none', () => {
  const tasks = mkdtempSync(join(tmpdir(), 'altstream-tasks-'));
  const tell = (thread: number, schedstat: string): string => {
    const folder = join(tasks, `${thread}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'schedstat'), schedstat);
    return join(folder, 'schedstat');
  };
  afterAll(() => rmSync(tasks, { recursive: true }));

  it('is unknown, and not zero', () => {
    tell(7, '0 0 0\n');
    tell(ownThread() ?? 0, '0 0 0\n');
    expect(threadTime(7, tasks)).toBeUndefined();
    expect(knowsThreadTimes(tasks)).toBe(false);
    tell(ownThread() ?? 0, '1000000 5 1\n');
    expect(knowsThreadTimes(tasks)).toBe(true);
  });

  it('goes by the clock, and stays there', () => {
    const file = tell(8, '0 0 0\n');
    const clocks = [threadClock(8, tasks), () => new ThreadClock(file).now()];
    for (const clock of clocks) {
      const before = performance.now();
      const now = clock();
      expect(now).toBeGreaterThanOrEqual(before);
      expect(performance.now()).toBeGreaterThanOrEqual(now);
    }
    tell(8, '2000000 0 1\n');
    expect(clocks[0]?.()).not.toBe(2);
  });

  it('goes by the thread where it is told, and is over when that ends', () => {
    const file = tell(9, '3500000 0 1\n');
    const clock = threadClock(9, tasks);
    expect([clock(), new ThreadClock(file).now()]).toEqual([3.5, 3.5]);
    rmSync(join(tasks, '9'), { recursive: true });
    expect(clock()).toBe(Number.POSITIVE_INFINITY);
  });
});
