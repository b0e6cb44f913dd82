import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { ownThread, ThreadClock, threadTime } from './thread-time.js';

describe('the time of a thread', () => {
  it('grows while it computes, and not while it sleeps', async () => {
    const own = threadTime(ownThread());
    const end = performance.now() + 50;
    while (performance.now() < end) Math.sqrt(end);
    const later = threadTime(ownThread()) ?? 0;
    expect(later).toBeGreaterThan(own ?? Number.POSITIVE_INFINITY);
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
    const end = performance.now() + 20;
    while (performance.now() < end) Math.sqrt(end);
    expect(clock.now()).toBeGreaterThan(now);
  });

  it('is unknown of no thread', () => {
    expect(threadTime(undefined)).toBeUndefined();
    expect(threadTime(0)).toBeUndefined();
  });
});
